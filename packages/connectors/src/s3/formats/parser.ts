import type { DataRecord, Unreadable } from '@connector-frame/engine/connector-api';

/** An item of an object: a record, or content that is not a valid record. */
export type Found = { readonly record: DataRecord } | { readonly unreadable: Unreadable };

/**
 * Parses text incrementally.
 * @throws ContentError if nothing after this point can be parsed reliably
 */
export interface Parser {
  push(text: string): Found[];
  /** Signals the end of the text. */
  end(): Found[];
}

/** Maximum characters of one record, to bound memory. No batch accepts a longer one. */
export const MAX_TEXT = 2 * 1024 * 1024;
/** Maximum characters to keep of unreadable content. */
const KEPT = 2_000;

export const unreadable = (reason: string, text: string): Found => ({
  unreadable: { reason, found: text.length > KEPT ? `${text.slice(0, KEPT)}…` : text },
});
