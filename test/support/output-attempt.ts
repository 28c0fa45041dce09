import { gunzipSync } from 'node:zlib';
import {
  type ConnectorContext,
  ConnectorError,
  type FailureKind,
  type Output,
  type WriteResult,
} from '../../packages/engine/src/connector-api/index.js';
import { createEgress } from '../../packages/engine/src/egress/index.js';
import { createBatch, type Batch } from '../../packages/engine/src/connector-api/batch.js';
import type { Clock } from '../../packages/engine/src/connector-api/clock.js';
import { typeOf } from './declared-fields.js';
import type { Received } from './vendor.js';

/** The result of one delivery attempt, as the runner interprets it. */
export interface Attempt {
  written: number[];
  rejected: { n: number; reason: string }[];
  failure?: { code: string; message: string; kind: FailureKind; afterMs?: number };
  /** The original error. */
  error?: unknown;
}

/** Creates a clock whose `sleep` returns at once and advances the time. */
export function hurriedClock(): Clock & { slept: number } {
  const clock = {
    slept: 0,
    now: () => Date.UTC(2026, 0, 1) + clock.slept,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (!signal?.aborted) clock.slept += Math.max(0, ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return clock;
}

/** Returns the context of an output whose egress allows only this machine. */
export function outputContext(type: string, egress = createEgress({ allow: ['127.0.0.0/8'] })): ConnectorContext {
  return { type: typeOf(type), egress, clock: hurriedClock() };
}

/** The note in each record of `noted`. */
export const RECORD_CANARY = 'canary/record "0007" ümlaut+';

/** Creates a batch of records `{ n, note }`. No error may contain the note. */
export function noted(count: number, from = 0): Batch {
  const lines = Array.from({ length: count }, (_, n) => JSON.stringify({ n: from + n, note: RECORD_CANARY }));
  return createBatch(`batch-${from}`, lines);
}

/** Writes a batch and, like the engine, splits what was refused until the records at fault are alone. */
async function writeInHalves(output: Output, batch: Batch, signal: AbortSignal): Promise<WriteResult> {
  const { refused = [], unsent = [], rejected = [], retry: first } = await output.write(batch, signal);
  const found = [...rejected];
  const halves: (readonly number[])[] = unsent.length > 0 ? [unsent] : [];
  for (const { indexes, reason, at } of refused) {
    const [only] = indexes.length === 1 ? indexes : [at];
    if (only !== undefined) found.push({ index: only, reason });
    const middle = at === undefined ? Math.ceil(indexes.length / 2) : indexes.indexOf(at);
    if (indexes.length > 1)
      halves.push(indexes.slice(0, middle), indexes.slice(at === undefined ? middle : middle + 1));
  }
  let retry = first;
  const retried = [...(first?.indexes ?? [])];
  for (const half of halves) {
    if (half.length === 0) continue;
    const result = await writeInHalves(output, batch.pick(half), signal);
    found.push(...(result.rejected ?? []).map(({ index, reason }) => ({ index: half[index] ?? -1, reason })));
    retried.push(...(result.retry?.indexes ?? []).map((index) => half[index] ?? -1));
    retry ??= result.retry;
  }
  return { ...(found.length > 0 && { rejected: found }), ...(retry && { retry: { ...retry, indexes: retried } }) };
}

/** Makes one attempt to deliver a batch. Opens the output first, as the runner does. */
export async function attempt(output: Output, batch: Batch, signal = new AbortController().signal): Promise<Attempt> {
  const all = batch.records.map(({ n }) => Number(n));
  try {
    await output.open?.(signal);
    const { rejected = [], retry } = await writeInHalves(output, batch, signal);
    const open = new Set([...rejected.map(({ index }) => index), ...(retry?.indexes ?? [])]);
    return {
      written: all.filter((_, index) => !open.has(index)),
      rejected: rejected.map(({ index, reason }) => ({ n: all[index] ?? Number.NaN, reason })),
      ...(retry && {
        failure: {
          code: 'retry',
          message: retry.reason,
          kind: retry.throttled ? ('throttled' as const) : ('retry' as const),
          ...(retry.afterMs !== undefined && { afterMs: retry.afterMs }),
        },
      }),
    };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const { code, message, kind, afterMs } = error;
    return {
      written: [],
      rejected: [],
      failure: { code, message, kind, ...(afterMs !== undefined && { afterMs }) },
      error,
    };
  }
}

/**
 * Returns the field `n` of the records in a body that contains them as JSON, at any level of
 * quoting.
 */
export function numbersIn({ bytes }: Received): number[] {
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
  return [...text.matchAll(/\bn\\*":(\d+)/g)].map(([, n]) => Number(n));
}
