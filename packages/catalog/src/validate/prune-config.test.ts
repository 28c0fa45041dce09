import { describe, expect, it } from 'vitest';
import { good, schema } from './fixture.js';
import { initialValue, withDefaults } from './defaults.js';
import { destinationOf } from './destination.js';
import { isShown } from './is-shown.js';
import { pruneConfig } from './prune-config.js';
import { isGroup, isList, isUnion, variantsOf } from './schema.js';
import { setAt } from './pointer.js';
import type { FieldSchema } from '../types.js';

describe('pruneConfig', () => {
  it('keeps a valid configuration unchanged', () => {
    expect(pruneConfig(schema, good)).toEqual(good);
  });

  it('drops empty, unknown and hidden fields, and fields of other choices', () => {
    const pruned = pruneConfig(schema, {
      settings: {
        url: 'https://acme.example',
        note: '',
        mode: 'fast',
        schedule: '* * * * *',
        topics: ['', 'a'],
        headers: [{ name: '' }, { name: 'x', value: '', more: 1 }],
        rate: { amount: null },
        labels: { z: 'a', b: 'c', empty: '' },
        auth: { type: 'none', key_body: { host: 'kept while typing' } },
        verbose: false,
        extra: 1,
      },
      secrets: { token: 'abcd', headers: {}, cert: 'not shown' },
    });
    expect(pruned).toEqual({
      settings: {
        url: 'https://acme.example',
        mode: 'fast',
        topics: ['a'],
        headers: [{ name: 'x' }],
        labels: { b: 'c', z: 'a' },
        auth: { type: 'none' },
        verbose: false,
      },
      secrets: { token: 'abcd' },
    });
    expect(pruneConfig(schema, pruned)).toEqual(pruned);
  });

  it('returns keys in the same order regardless of their order in the input', () => {
    const reversed = {
      secrets: good.secrets,
      settings: Object.fromEntries(Object.entries({ ...good.settings, labels: { env: 'prod' } }).reverse()),
    };
    expect(JSON.stringify(pruneConfig(schema, reversed))).toBe(JSON.stringify(pruneConfig(schema, good)));
  });
});

describe('withDefaults', () => {
  it('adds missing fields, including those of the default choice', () => {
    expect(withDefaults(schema)).toEqual({
      settings: {
        mode: 'safe',
        retries: 3,
        verbose: false,
        verify_tls: true,
        auth: { type: 'key', key_body: { port: 443 } },
      },
      secrets: {},
    });
  });

  it('keeps existing values', () => {
    const settings = { mode: 'fast', retries: 0, verbose: true, verify_tls: false, auth: { type: 'none' } };
    expect(withDefaults(schema, { settings }).settings).toEqual(settings);
  });

  it('initialValue returns the defaults of a new row or choice', () => {
    const { headers, auth } = schema.settings.properties;
    expect(headers && isList(headers) && initialValue(headers.items)).toEqual({ value: 'v' });
    const body = auth && isUnion(auth) ? variantsOf(auth)[1]?.body : undefined;
    expect(body && isGroup(body) && initialValue(body)).toEqual({ port: 443 });
  });
});

describe('isShown', () => {
  const config = { settings: { a: 1, b: { c: true } }, secrets: {} };
  it.each([
    [undefined, true],
    [{ path: '/settings/a', in: [1, 2] }, true],
    [{ path: '/settings/a', in: ['1'] }, false],
    [{ path: '/settings/b/c', in: [true] }, true],
    [{ path: '/settings/none', in: [true] }, false],
    [{ path: '/settings/a', in: [1], and: [{ path: '/settings/b/c', in: [false] }] }, false],
  ])('%j -> %s', (condition, shown) => {
    expect(isShown(condition, config)).toBe(shown);
  });
});

const destinationWith = (path: string, value: unknown): string =>
  destinationOf(schema, setAt(good, path, value).settings);

describe('destinationOf', () => {
  const here = destinationOf(schema, good.settings);

  it('returns the marked fields in the order of their declaration', () => {
    expect(here).toBe(
      '[["/url","https://acme.example"],["/verify_tls",true],["/auth/type","key"],["/auth/key_body/host","db.acme.example"]]',
    );
  });

  it.each([
    ['/settings/url', 'https://evil.example'],
    ['/settings/url', undefined],
    ['/settings/auth/type', 'none'],
    ['/settings/auth/key_body/host', 'evil.example'],
    ['/settings/verify_tls', false],
  ])('differs for %s = %j', (path, value) => {
    expect(destinationWith(path, value)).not.toBe(here);
  });

  it.each([
    ['/settings/mode', 'safe'],
    ['/settings/auth/key_body/port', 8443],
    ['/settings/labels', { z: 'y' }],
    ['/settings/unknown', 'x'],
    // The default of the field.
    ['/settings/verify_tls', true],
  ])('is the same for %s = %j', (path, value) => {
    expect(destinationWith(path, value)).toBe(here);
  });

  it('distinguishes an unknown choice from an absent one', () => {
    const { auth, ...properties } = schema.settings.properties;
    if (!auth || !isUnion(auth)) throw new Error('no union');
    const { default: _default, ...bare } = auth;
    const optional = { ...schema, settings: { ...schema.settings, properties: { ...properties, auth: bare } } };
    const { auth: _auth, ...settings } = good.settings;
    const none = destinationOf(optional, settings);
    expect(destinationOf(optional, { ...settings, auth: {} })).toBe(none);
    expect(destinationOf(optional, { ...settings, auth: { type: 'unknown' } })).not.toBe(none);
  });

  it('treats an absent choice like its default', () => {
    const absent = setAt(good, '/settings/auth', undefined).settings;
    const explicit = setAt(good, '/settings/auth', { type: 'key', key_body: {} }).settings;
    expect(destinationOf(schema, absent)).toBe(destinationOf(schema, explicit));
    expect(destinationOf(schema, absent)).not.toBe(destinationWith('/settings/auth', { type: 'none' }));
  });

  it('evaluates a condition on an absent field with the default of that field', () => {
    const relay: FieldSchema = {
      type: 'string',
      'x-destination': true,
      'x-when': { path: '/settings/mode', in: ['safe'] },
    };
    const properties = { ...schema.settings.properties, relay };
    const withRelay = { ...schema, settings: { ...schema.settings, properties } };
    const at = (settings: Record<string, unknown>): string => destinationOf(withRelay, settings);
    // `mode` defaults to "safe". A field that was hidden on save was dropped and has no effect.
    expect(at({ mode: 'safe', relay: 'a' })).not.toBe(at({ mode: 'safe', relay: 'b' }));
    expect(at({ mode: 'safe' })).toBe(at({}));
    expect(at({ mode: 'fast', relay: 'a' })).toBe(at({ mode: 'fast' }));
  });
});
