import { z } from '@hono/zod-openapi';
import { invalidRequest } from '../api-error.js';
import type { SecretValue } from '../secrets/vault.js';

const Text = z.string();

/** A secret in a write: a new value, or an existing secret of the organization by its id. */
export const SecretWrite = z
  .union([
    z.strictObject({
      value: z.union([Text, z.record(Text, Text)]).openapi({ description: 'A string, or a map of strings.' }),
      name: z.string().max(200).optional(),
      description: z.string().max(2_000).optional(),
    }),
    z.strictObject({
      id: z.string().openapi({ description: 'ID of a stored secret of the same field and destination.' }),
    }),
  ])
  .openapi('SecretWrite');

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

function problemOf(value: SecretValue): 'required' | 'masked' | undefined {
  const texts = typeof value === 'string' ? [value] : Object.values(value);
  if (texts.length === 0 || texts.includes('')) return 'required';
  return texts.some((text) => MASK.test(text)) ? 'masked' : undefined;
}
