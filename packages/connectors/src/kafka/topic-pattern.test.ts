import { expect, test } from 'vitest';
import { compilePattern } from './topic-pattern.js';

test.each([
  ['^audit', ['audit', 'audit-a'], ['an-audit', 'audi']],
  ['^audit-.*', ['audit-', 'audit-a.b'], ['audit']],
  ['^audit-.+$', ['audit-x'], ['audit-']],
  ['^a\\.b$', ['a.b'], ['axb', 'a.bc']],
  ['^[a-c]+[0-9]?$', ['abc', 'a1'], ['d', 'a12', '1']],
  ['^[^x]*x$', ['x', 'aax'], ['xx']],
  ['^$', [''], ['a']],
  ['^(.*)$', undefined, []],
  ['^a|b', undefined, []],
  ['^a**', undefined, []],
  ['^[z-a]', undefined, []],
  ['^a{2}', undefined, []],
  ['^\\d', undefined, []],
])('%s', (pattern, yes, no) => {
  const match = compilePattern(pattern);
  if (yes === undefined) {
    expect(match).toBeUndefined();
    return;
  }
  for (const name of yes) expect(match?.(name), name).toBe(true);
  for (const name of no) expect(match?.(name), name).toBe(false);
});

test('the worst of patterns takes no time', () => {
  const started = performance.now();
  const match = compilePattern(`^${'.*a?'.repeat(100)}b$`);
  for (let turn = 0; turn < 50; turn += 1) expect(match?.('a'.repeat(249))).toBe(false);
  expect(performance.now() - started).toBeLessThan(5_000);
});
