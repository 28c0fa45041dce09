import { describe, expect, it } from 'vitest';
import { getAt, joinPointer, parsePointer, setAt } from './pointer.js';

const config = { settings: { list: [{ name: 'a' }, { name: 'b' }], 'a/b~c': 1 }, secrets: {} };

describe('getAt', () => {
  it.each([
    ['/settings/list/1/name', 'b'],
    ['/settings/a~1b~0c', 1],
    ['', config],
    ['/settings/list/2/name', undefined],
    ['/settings/toString', undefined],
    ['/settings/__proto__', undefined],
    ['/constructor', undefined],
    ['/settings/list/length/x', undefined],
  ])('reads %s', (pointer, value) => {
    expect(getAt(config, pointer)).toEqual(value);
  });

  it('does not read a __proto__ that is an own property', () => {
    expect(getAt(JSON.parse('{"__proto__": {"x": 1}}'), '/__proto__/x')).toBeUndefined();
  });
});

describe('joinPointer', () => {
  it('returns a pointer that parsePointer splits into the same keys', () => {
    const keys = ['a/b', '~1', '', 'ü', '0'];
    let pointer = '';
    for (const key of keys) pointer = joinPointer(pointer, key);
    expect(parsePointer(pointer)).toEqual(keys);
  });
});

describe('setAt', () => {
  it('replaces in a copy and shares the rest', () => {
    const next = setAt(config, '/settings/list/1/name', 'c');
    expect(next.settings.list).toEqual([{ name: 'a' }, { name: 'c' }]);
    expect(config.settings.list[1]).toEqual({ name: 'b' });
    expect(next.settings.list[0]).toBe(config.settings.list[0]);
  });

  it('creates missing parents, and a list for an index', () => {
    expect(setAt({}, '/settings/auth/type', 'x')).toEqual({ settings: { auth: { type: 'x' } } });
    expect(setAt({}, '/settings/list/0', 'x')).toEqual({ settings: { list: ['x'] } });
  });

  it('removes the key or the list item if the value is undefined', () => {
    expect(setAt({ a: { b: 1, c: 2 } }, '/a/b', undefined)).toEqual({ a: { c: 2 } });
    expect(setAt({ a: [1, 2, 3] }, '/a/1', undefined)).toEqual({ a: [1, 3] });
    expect(Object.keys(setAt({ a: 1, b: 2 }, '/a', undefined))).toEqual(['b']);
  });

  it.each([
    '/__proto__/x',
    '/settings/__proto__/x',
    '/settings/constructor/prototype/x',
    '/settings/list/7',
    '/settings/list/-1',
  ])('changes nothing for %s', (pointer) => {
    expect(setAt(config, pointer, 'x')).toEqual(config);
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });
});
