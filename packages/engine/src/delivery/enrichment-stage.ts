import { failureOf } from '../connector-api/connector-error.js';
import type { Enrichment, EnrichmentResult } from '../connector-api/enrichment.js';
import { isRecord, type DataRecord } from '../connector-api/record.js';
import type { BatchStage, Outcome } from '../transforms/operation.js';
import { enrichRecord, keyOf } from '../enrichments/enrich-record.js';
import { Lookups } from '../enrichments/lookups.js';
import { waitBeforeRetry, type RunContext } from './run-context.js';

/**
 * Returns the stage of an enrichment in one run. It looks up the keys of a batch together. If that
 * fails, it retries until it succeeds or the run stops, and holds back only the outputs behind it;
 * what was looked up before the failure is not looked up again.
 */
export function enrichmentStage(context: RunContext, nodeId: string, enrichment: Enrichment): BatchStage {
  const lookups = new Lookups(enrichment, context.clock, context.aborted);

  /** Returns `false` if the run stopped first. */
  async function resolve(
    keys: ReadonlySet<string>,
    found: Map<string, EnrichmentResult>,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (let attempt = 1; ;) {
      const before = found.size;
      try {
        await untilAborted(lookups.resolve(keys, found), signal);
        if (signal.aborted) return false;
        context.health.responded(nodeId);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (found.size > before) attempt = 1;
        if (!(await waitBeforeRetry(context, nodeId, failureOf(error), attempt))) return false;
        attempt += 1;
      }
    }
  }

  return {
    kind: 'batch',
    varies: true,
    async run({ lines, records = lines.map(parsed) }, { signal }) {
      const keys = records.map((record) => record && keyOf(enrichment, record));
      const found = new Map<string, EnrichmentResult>();
      const wanted = new Set(keys.filter((key) => key !== undefined));
      if (wanted.size > 0 && !(await resolve(wanted, found, signal))) return undefined;
      return records.map((record, index): Outcome => {
        const key = keys[index];
        const result = (key !== undefined && found.get(key)) || enrichment.unmatched;
        return record ? enrichRecord(enrichment, record, key, result) : 'no_json_object';
      });
    },
  };
}

function parsed(line: string): DataRecord | undefined {
  const value: unknown = JSON.parse(line);
  return isRecord(value) ? value : undefined;
}

/** Resolves when `work` is done, or as soon as `signal` is aborted. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      // One signal sees many batches.
      signal.removeEventListener('abort', end);
      resolve();
    };
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', end);
    work.then(end, (error: unknown) => {
      signal.removeEventListener('abort', end);
      reject(error instanceof Error ? error : new Error('The lookup failed.', { cause: error }));
    });
  });
}
