import type { Batch } from '@connector-frame/engine/connector-api';
import { encodeEach } from '../_shared/output/encoded-output.js';
import type { Rejection } from '@connector-frame/engine/connector-api';

/** Signals by the property of their request in OTLP's JSON encoding. */
const SIGNALS = { resourceLogs: 'logs', resourceMetrics: 'metrics', resourceSpans: 'traces' } as const;
type Property = keyof typeof SIGNALS;

/** Records of one signal. */
export interface SignalPart {
  signal: (typeof SIGNALS)[Property];
  indexes: number[];
  /** `Export...ServiceRequest` as JSON. */
  body: Buffer;
}

const PROPERTIES: readonly Property[] = ['resourceLogs', 'resourceMetrics', 'resourceSpans'];

/**
 * Joins records that are requests of OTLP in its JSON encoding already: to one request for each
 * signal.
 */
export function joinRequests(batch: Batch): { parts: SignalPart[]; rejected: Rejection[] } {
  const { items, indexes, rejected } = encodeEach(batch, (index) => {
    const record = batch.records[index] ?? {};
    const property = PROPERTIES.find((name) => Array.isArray(record[name]));
    if (property === undefined) return { reason: 'not_otlp' };
    // As text, so that 64-bit numbers stay exact.
    const inner = listOf(batch.lines[index] ?? '', property, JSON.stringify(record[property]));
    return { property, inner };
  });
  const parts = PROPERTIES.flatMap((property): SignalPart[] => {
    const own = [...items.entries()].filter(([, item]) => item.property === property && item.inner !== '');
    if (own.length === 0) return [];
    const list = own.map(([, { inner }]) => inner).join();
    return [
      {
        signal: SIGNALS[property],
        indexes: own.map(([position]) => indexes[position] ?? 0),
        body: Buffer.from(`{${JSON.stringify(property)}:[${list}]}`),
      },
    ];
  });
  return { parts, rejected };
}

/** Returns the items of a list in a line without its brackets. Only if it is all there is, numbers stay exact. */
function listOf(line: string, property: Property, parsed: string): string {
  const [, inner] = new RegExp(`^\\s*\\{\\s*"${property}"\\s*:\\s*\\[(.*)\\]\\s*\\}\\s*$`, 's').exec(line) ?? [];
  return inner ?? parsed.slice(1, -1);
}
