import { z } from '@hono/zod-openapi';
import { invalidRequest } from '../api-error.js';
import type { SecretValue } from '../secrets/vault.js';

const Text = z.string();

/** The value of a secret. */
export const SecretText = z
  .union([Text, z.record(Text, Text).openapi('SecretMap', { description: 'A map of strings, such as HTTP headers.' })])
  .openapi('SecretValue', { description: 'A string, or a map of strings.' });

/** A secret in a write: a new value, an existing secret of the organization, or a connected account. */
export const SecretWrite = z.union([
  z
    .strictObject({
      value: SecretText,
      name: z.string().max(200).optional(),
      description: z.string().max(2_000).optional(),
    })
    .openapi('NewSecretValue'),
  z
    .strictObject({
      id: z.string().openapi({
        description:
          'ID of a secret of the organization, or of the secret of another connector with the same field and destination. Both use the same secret then.',
      }),
    })
    .openapi('SecretReferenceWrite'),
  z
    .strictObject({
      consent: z.string().max(100).openapi({
        description: 'ID of a connected account, from `POST /v1/oauth/{type_id}/{org}` in the same session.',
      }),
    })
    .openapi('ConnectedAccountWrite'),
]);

export type SecretWrite = z.output<typeof SecretWrite>;

const MASK = /^[*•●∙·]{4,}$/;

/**
 * Rejects values that can only be a mistake: an empty value (null clears a secret), or the dots
 * that mask a stored value.
 * @throws ApiError 400 naming the fields
 */
export function checkSecretValues(writes: Readonly<Record<string, SecretWrite | null>>): void {
  const issues = Object.entries(writes).flatMap(([field, write]) => {
    const code = write && 'value' in write ? problemOf(write.value) : undefined;
    return code ? [{ path: `/secrets/${field}`, code }] : [];
  });
  if (issues.length === 0) return;
  throw invalidRequest('A secret is empty or masked. Send its value, null to clear it, or leave it out to keep it.', {
    issues,
  });
}

/**
 * Rejects a value that can only be a mistake, as `checkSecretValues` does.
 * @throws ApiError 400
 */
export function requireRealValue(value: SecretValue): void {
  const code = problemOf(value);
  if (code) throw invalidRequest('The value is empty or masked.', { issues: [{ path: '/value', code }] });
}

function problemOf(value: SecretValue): 'required' | 'masked' | undefined {
  const texts = typeof value === 'string' ? [value] : Object.values(value);
  if (texts.length === 0 || texts.includes('')) return 'required';
  return texts.some((text) => MASK.test(text)) ? 'masked' : undefined;
}
