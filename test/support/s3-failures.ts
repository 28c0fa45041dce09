import { inspect } from 'node:util';
import { expect } from 'vitest';
import { BUCKET_KEYS } from './fake-bucket.js';

/** Matches the error with which a connector rejects its configuration before it connects. */
export const invalidConfig: unknown = expect.objectContaining({
  name: 'ConnectorError',
  code: 'invalid_config',
  kind: 'permanent',
});

/**
 * Asserts that an error contains neither the bucket's keys nor a signature, also in its causes.
 * Undefined, for a request that did not fail, contains nothing.
 */
export function expectNoCredentials(error: unknown): void {
  const text = inspect(error, { depth: 5 });
  for (const secret of Object.values(BUCKET_KEYS)) expect(text).not.toContain(secret);
  expect(text).not.toContain('Signature');
}
