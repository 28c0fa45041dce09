import { createHmac, type KeyObject } from 'node:crypto';
import { SealError } from './cipher.js';
import type { SecretPlace } from './vault.js';

/**
 * The binding of a sealed secret: for each pointer, a digest of its value. Stored as the header of
 * the sealed value: in plaintext, but authenticated with the rest.
 */
export type Binding = readonly (readonly [pointer: string, digest: string])[];

/** Length of a digest in bytes. */
const LENGTH = 16;

/**
 * Returns the binding to these values. The digests are keyed and differ by place, so they reveal
 * nothing about a value, not even that two connectors share it.
 */
export const bindingOf = (
  key: KeyObject,
  { connectorId, field }: SecretPlace,
  values: ReadonlyMap<string, string>,
): Binding =>
  Array.from(values, ([pointer, value]) => {
    const text = JSON.stringify([connectorId, field, pointer, value]);
    return [pointer, createHmac('sha256', key).update(text).digest().subarray(0, LENGTH).toString('base64url')];
  });

/**
 * Parses the header of a sealed value.
 * @throws SealError when the header is not a binding, because it was changed
 */
export function readBinding(header: string): Binding {
  const value = parse(header);
  if (!Array.isArray(value) || !value.every(isEntry)) throw new SealError();
  return value;
}

const isEntry = (entry: unknown): entry is [string, string] =>
  Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === 'string');

function parse(header: string): unknown {
  try {
    return JSON.parse(header);
  } catch {
    throw new SealError();
  }
}
