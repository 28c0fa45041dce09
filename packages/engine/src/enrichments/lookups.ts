import type { Clock } from '../connector-api/clock.js';
import { MAX_RESULT_BYTES, type Enrichment, type EnrichmentResult } from '../connector-api/enrichment.js';

/** Default of `Enrichment.cacheMs`. */
const CACHE_MS = 10_000;
/** Maximum number of results that are kept, and the maximum size of all of them. */
const MAX_KEPT = 20_000;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

const TOO_LARGE: EnrichmentResult = { rejected: `result_too_large: More than ${MAX_RESULT_BYTES} bytes.` };

interface Kept {
  readonly result: EnrichmentResult;
  readonly until: number;
  readonly bytes: number;
}

/** A lookup that has ended. With a failure, `results` has the keys that were looked up before. */
interface Ended {
  readonly results: ReadonlyMap<string, EnrichmentResult>;
  readonly failure?: { readonly error: unknown };
}

/**
 * The lookups of one enrichment in one run, shared by all outputs behind it: keeps results for a
 * while, and looks up no key twice at a time.
 */
export class Lookups {
  readonly #enrichment: Enrichment;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #aborted: AbortSignal;
  readonly #cacheMs: number;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  #keptBytes = 0;
  readonly #pending = new Map<string, Promise<Ended>>();

  /** @param aborted ends lookups in progress */
  constructor(enrichment: Enrichment, clock: Pick<Clock, 'now'>, aborted: AbortSignal) {
    this.#enrichment = enrichment;
    this.#clock = clock;
    this.#aborted = aborted;
    this.#cacheMs = enrichment.cacheMs ?? CACHE_MS;
  }

  /**
   * Adds the results of keys to `found`. Keys that are there already are not looked up.
   * @throws what the enrichment throws, after adding what was looked up before
   */
  async resolve(keys: ReadonlySet<string>, found: Map<string, EnrichmentResult>): Promise<void> {
    const missing: string[] = [];
    const pending = new Set<Promise<Ended>>();
    const now = this.#clock.now();
    for (const key of keys) {
      if (found.has(key)) continue;
      const kept = this.#take(key, now);
      const underway = kept ? undefined : this.#pending.get(key);
      if (kept) found.set(key, kept);
      else if (underway) pending.add(underway);
      else missing.push(key);
    }
    if (missing.length > 0) pending.add(this.#begin(missing));
    if (pending.size === 0) return;
    const ended = await Promise.all(pending);
    for (const { results } of ended) for (const [key, result] of results) if (keys.has(key)) found.set(key, result);
    const failure = ended.find((each) => each.failure !== undefined)?.failure;
    if (failure) throw failure.error;
  }

  #take(key: string, now: number): EnrichmentResult | undefined {
    const kept = this.#kept.get(key);
    // The clock may have been set back.
    if (!kept || (now < kept.until && now >= kept.until - this.#ttlOf(kept.result))) return kept?.result;
    this.#drop(key, kept);
    return undefined;
  }

  #begin(keys: readonly string[]): Promise<Ended> {
    const ended = this.#lookUp(keys).finally(() => {
      for (const key of keys) this.#pending.delete(key);
    });
    for (const key of keys) this.#pending.set(key, ended);
    return ended;
  }

  async #lookUp(keys: readonly string[]): Promise<Ended> {
    const results = new Map<string, EnrichmentResult>();
    try {
      const { results: found, failure } = await this.#enrichment.lookUp(keys, this.#aborted);
      for (const key of keys) {
        const result = found.get(key) ?? (failure ? undefined : this.#enrichment.unmatched);
        if (result) results.set(key, this.#keep(key, result));
      }
      return failure ? { results, failure: { error: failure } } : { results };
    } catch (error) {
      return { results, failure: { error } };
    }
  }

  /** Keeps a result, unless it is one of a local table, and returns it. */
  #keep(key: string, result: EnrichmentResult): EnrichmentResult {
    if (this.#cacheMs === 0) return result;
    const size = 'data' in result ? (result.bytes ?? Buffer.byteLength(JSON.stringify(result.data))) : 0;
    const kept = size > MAX_RESULT_BYTES ? TOO_LARGE : result;
    const before = this.#kept.get(key);
    if (before) this.#drop(key, before);
    const bytes = size + key.length * 2;
    this.#kept.set(key, { result: kept, until: this.#clock.now() + this.#ttlOf(kept), bytes });
    this.#keptBytes += bytes;
    for (const [oldest, entry] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT && this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#drop(oldest, entry);
    }
    return kept;
  }

  #ttlOf({ cacheMs = this.#cacheMs }: EnrichmentResult): number {
    return cacheMs;
  }

  #drop(key: string, { bytes }: Kept): void {
    this.#kept.delete(key);
    this.#keptBytes -= bytes;
  }
}
