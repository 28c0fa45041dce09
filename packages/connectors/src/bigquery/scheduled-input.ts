import type { CreateInput, JsonValue, Page, PageInput } from '@connector-frame/engine/connector-api';
import { ApiError } from '../_shared/api/api-error.js';
import { isDue } from '../_shared/poll/schedule.js';
import { at, text } from '../_shared/read.js';
import { BigQuery, type ResultPosition } from './query-job.js';
import { sourceOf } from './sql.js';

const CHECK_MS = 30_000;

interface Run {
  /** When the last run started, in milliseconds since the epoch. */
  ran: number;
  /** The next page of the run. Absent: it is complete. */
  next?: ResultPosition;
}

/** Creates an input that reads all rows on a schedule. An interrupted run continues with its results. */
export const createScheduledBigQueryInput: CreateInput = (config, { egress, clock }): PageInput => {
  const bigQuery = new BigQuery(config, egress, clock);
  const schedule = text(config.settings, 'cron') ?? '';
  const sql = `SELECT * FROM ${sourceOf(config.settings)}`;
  return {
    kind: 'pages',
    intervalMs: CHECK_MS,
    readsAhead: true,
    async *pages(saved: JsonValue | undefined, signal, isRequested = false): AsyncGenerator<Page, void, void> {
      const before = readRun(saved);
      const now = clock.now();
      if (!before?.next && before && !isRequested && !isDue(schedule, before.ran, now)) return;
      const resumed = before?.next && (await resume(bigQuery, before.next, signal));
      const ran = resumed && before ? before.ran : now;
      let page = resumed ?? (await bigQuery.query(sql, [], signal));
      for (;;) {
        const run: Run = { ran, ...(page.next && { next: page.next }) };
        yield { records: page.records, cursor: toJson(run) };
        if (!page.next) return;
        page = await bigQuery.results(page.next, signal);
      }
    },
  };
};

/** Returns the next page of a run; `undefined` if its results have expired. */
async function resume(bigQuery: BigQuery, next: ResultPosition, signal: AbortSignal) {
  try {
    return await bigQuery.results(next, signal);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}

const toJson = ({ ran, next }: Run): JsonValue => ({
  ran,
  ...(next && {
    next: { job: next.job, location: next.location ?? null, token: next.token ?? null },
  }),
});

function readRun(saved: JsonValue | undefined): Run | undefined {
  const ran = at(saved, 'ran');
  if (typeof ran !== 'number') return undefined;
  const job = text(saved, 'next', 'job');
  if (job === undefined) return { ran };
  return { ran, next: { job, location: text(saved, 'next', 'location'), token: text(saved, 'next', 'token') } };
}
