import type { AppendOptions, DataRecord, Sink } from '../../packages/engine/src/connector-api/index.js';

/** A sink of a push input that keeps what it gets. */
export interface CollectingSink extends Sink {
  records: DataRecord[];
  /** Codes of the log entries. */
  notes: string[];
  /** While set, nothing is stored: appends wait until it resolves. */
  blocked: Promise<void> | undefined;
  /** Number of the next appends that report that an output is too slow. */
  full: number;
}

export function collectingSink(): CollectingSink {
  const sink: CollectingSink = {
    records: [],
    notes: [],
    blocked: undefined,
    full: 0,
    async append(lines: readonly string[], { signal }: AppendOptions = {}) {
      await sink.blocked;
      if (signal?.aborted) return { stored: false, reason: 'closed' };
      if (sink.full > 0) {
        sink.full -= 1;
        return { stored: false, reason: 'full' };
      }
      for (const line of lines) sink.records.push(JSON.parse(line));
      return { stored: true, tooLarge: [] };
    },
    note: ({ code }) => void sink.notes.push(code),
  };
  return sink;
}
