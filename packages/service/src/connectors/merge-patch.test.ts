import { expect, test } from 'vitest';
import { mergePatch } from './merge-patch.js';

// The test cases of RFC 7396, appendix A, whose two documents are objects, below a member.
test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
])('%s and %s give %s', (target, patch, merged) => {
  expect(mergePatch(JSON.parse(target), JSON.parse(patch))).toEqual(JSON.parse(merged));
});

test('a member named __proto__ is one like any other', () => {
  const merged = mergePatch({ a: 1 }, JSON.parse('{"__proto__":{"polluted":true}}'));
  expect(Object.keys(merged)).toEqual(['a', '__proto__']);
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  expect({}).not.toHaveProperty('polluted');
});
