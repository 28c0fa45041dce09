import { createHmac, type KeyObject } from 'node:crypto';
import { SealError } from './cipher.js';
import type { SecretPlace } from './vault.js';

/**
 * What a sealed secret is bound to: for each pointer a digest of its value. It is the header of the sealed value: stored in
 * clear, authenticated with the rest.
 */
export type Binding = readonly (readonly [pointer: string, digest: string])[];

/** Bytes of a digest. */
const LENGTH = 16;

/**
 * The binding to these values. The digests are keyed and differ by place, so they tell nothing of a value, not even that two
 * connectors have the same.
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

/** @throws SealError when the header is no binding: it was changed */
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
