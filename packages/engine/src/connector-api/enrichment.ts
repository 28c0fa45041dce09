import type { ConnectorError } from './connector-error.js';
import type { KeyPath } from './key-path.js';
import type { JsonValue } from './record.js';

/**
 * Maximum size of the data of a result as JSON, in bytes. It bounds the records of a batch after an
 * enrichment: 500 times this.
 */
export const MAX_RESULT_BYTES = 64 * 1024;

/** What is put into a record. */
export interface EnrichmentData {
  /** A stable code: `success`, `key_not_found`. */
  readonly code: string;
  /** The code in a few words, written by us. */
  readonly message: string;
  readonly data: JsonValue;
  /** Size of `data` as JSON, if it is known. */
  readonly bytes?: number;
  /** Milliseconds for which it is used again, if not `Enrichment.cacheMs`. */
  readonly cacheMs?: number;
}

/** What becomes of a record: it gets data, or goes to the dead letters. */
export type EnrichmentResult =
  | EnrichmentData
  | {
      /** A stable code, or a short sentence written by us. */
      readonly rejected: string;
      readonly cacheMs?: number;
    };

/** Results by key. */
export interface LookedUp {
  readonly results: ReadonlyMap<string, EnrichmentResult>;
  /**
   * Why the keys without a result were not looked up: the engine looks them up again later. Absent:
   * they have no match.
   */
  readonly failure?: ConnectorError;
}

/** Adds what it looks up to records on their way. */
export interface Enrichment {
  /** Path of the value to look up, of which `lookupKey` makes the key. */
  readonly joinPath: KeyPath;
  /** Path that the result is put at. */
  readonly destination: KeyPath;
  /** Puts `data` alone there, instead of `{ join_key, message, code, data }`. */
  readonly omitMetadata: boolean;
  /** Result of a record whose value is absent or has no match. */
  readonly unmatched: EnrichmentResult;
  /**
   * Milliseconds for which a result is used again. Default 10,000. 0: results are in memory already,
   * with at most `MAX_RESULT_BYTES` each, and are not kept twice.
   */
  readonly cacheMs?: number;
  /** Data as a lookup returns it, to try the enrichment without one. */
  readonly example: JsonValue;
  /**
   * Prepares the lookups. Called before the first record of a run, and retried until it succeeds.
   * @throws {ConnectorError}
   */
  open?(signal: AbortSignal): Promise<void>;
  /**
   * Looks up different keys: those of at most one batch. Calls may overlap. An error applies to all
   * keys.
   * @throws {ConnectorError}
   */
  lookUp(keys: readonly string[], signal: AbortSignal): Promise<LookedUp>;
  /** Releases resources at the end of a run, including a pause. The next run begins with `open`. */
  close?(): Promise<void>;
}
