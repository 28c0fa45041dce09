import { expect, test } from 'vitest';
import type { FailureKind } from '../connector-api/index.js';
import { Health } from './health.js';

/** Returns a health, a function that fails its node, and the attempts that it has counted. */
function observed() {
  let counted = 0;
  const health = new Health(
    () => 0,
    () => undefined,
    () => undefined,
    () => (counted += 1),
  );
  health.reset(['out']);
  const fail = (kind: FailureKind, needsAttention = false): void =>
    health.failed('out', { code: 'down', message: 'It is down.', kind, needsAttention }, 100);
  return { health, fail, counted: () => counted };
}

test('counts failed attempts from the one on that makes a node erroring, and again after a success', () => {
  const { health, fail, counted } = observed();
  fail('retry');
  fail('retry');
  expect(counted()).toBe(0);
  fail('retry');
  fail('retry');
  expect(counted()).toBe(2);
  health.responded('out');
  fail('retry');
  expect(counted()).toBe(2);
});

test('counts each attempt that needs a person, and none that the other side throttles', () => {
  const { fail, counted } = observed();
  fail('permanent');
  fail('retry', true);
  expect(counted()).toBe(2);
  for (let n = 0; n < 5; n += 1) fail('throttled');
  expect(counted()).toBe(2);
});
