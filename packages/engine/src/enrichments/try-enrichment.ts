import type { Enrichment } from '../connector-api/enrichment.js';
import type { DataRecord } from '../connector-api/record.js';
import { enrichRecord, keyOf } from './enrich-record.js';
import { Lookups } from './lookups.js';
import { systemClock } from '../connector-api/clock.js';

export interface TryEnrichmentOptions {
  signal: AbortSignal;
  /** Returns the enrichment's example for any key, without a lookup. */
  mocked: boolean;
}

/**
 * Applies an enrichment to one record, with the code that applies it in a pipeline.
 * @returns the record as JSON, or why it goes to the dead letters
 * @throws {ConnectorError} if the lookup fails
 */
export async function tryEnrichment(
  enrichment: Enrichment,
  record: DataRecord,
  { signal, mocked }: TryEnrichmentOptions,
): Promise<{ readonly line: string } | { readonly rejected: string }> {
  const key = keyOf(enrichment, record);
  const found = new Map();
  if (key !== undefined && mocked) found.set(key, { code: 'success', message: 'key found', data: enrichment.example });
  else if (key !== undefined) {
    try {
      await enrichment.open?.(signal);
      await new Lookups(enrichment, systemClock, signal).resolve(new Set([key]), found);
    } finally {
      await enrichment.close?.();
    }
  }
  const result = (key !== undefined && found.get(key)) || enrichment.unmatched;
  const outcome = enrichRecord(enrichment, record, key, result);
  return typeof outcome === 'string' ? { rejected: outcome } : { line: outcome[0] ?? '{}' };
}
