import type { DataRecord } from '../../../records/record.js';
import type { Unreadable } from '../../../runner/ends.js';

/** One thing in an object: a record, or what no record can be made of. */
export type Found = { readonly record: DataRecord } | { readonly unreadable: Unreadable };

/** Takes a text apart, piece by piece as it comes. @throws ContentError where nothing behind can be trusted */
export interface Parser {
  push(text: string): Found[];
  /** The text is over. */
  end(): Found[];
}

/** Characters of one record; no batch takes a longer one, and it must not fill the memory. */
export const MAX_TEXT = 2 * 1024 * 1024;
/** Characters of what was found that are kept. */
const KEPT = 2_000;

export const unreadable = (reason: string, text: string): Found => ({
  unreadable: { reason, found: text.length > KEPT ? `${text.slice(0, KEPT)}…` : text },
});
