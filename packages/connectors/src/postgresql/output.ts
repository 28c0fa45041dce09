import { setTimeout as timeout } from 'node:timers/promises';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  type Batching,
  type ConnectorContext,
  ConnectorError,
  type Output,
  type WriteResult,
} from '@connector-frame/engine/connector-api';
import { toConnectorError, invalidConfig } from './connector-error.js';
import { insertBatch } from './insert.js';
import { describeOutputTable, type OutputTable } from './output-table.js';
import { readOutputTarget } from './config.js';
import { openSession, QueryError, type Query, type Session } from './client.js';

/** Longer than the server's `statement_timeout`, so that the server reports the timeout first. */
const QUERY_MS = 75_000;
/** Limits of one statement. Its parameter is held in memory by the client and the server. */
const BATCHING: Batching = { records: 2_000, bytes: 1_000_000, waitMs: 200, waitFrom: 'write' };
const NO_UNIQUE_INDEX = '42P10';

interface OpenTable {
  query: Query;
  table: OutputTable;
}

/** Inserts records into a table. Each field goes to the column of the same name. */
export function createPostgresqlOutput(config: ConnectorConfig, { egress }: ConnectorContext): Output {
  const target = readOutputTarget(config);
  if ('ok' in target) throw invalidConfig(target);
  const { database } = target;
  let session: Session | undefined;
  let table: OutputTable | undefined;

  const disconnect = (): void => {
    session?.destroy();
    session = undefined;
    table = undefined;
  };

  async function use(signal: AbortSignal): Promise<OpenTable> {
    if (session?.closed) disconnect();
    if (!session) {
      session = await openSession(database, egress, signal, { queryMs: QUERY_MS });
      await session.query("SET statement_timeout = '60s'");
    }
    table ??= await describeOutputTable(session.query, config.settings);
    return { query: session.query, table };
  }

  async function guarded<T>(signal: AbortSignal, work: (open: OpenTable) => Promise<T>): Promise<T> {
    signal.addEventListener('abort', disconnect, { once: true });
    try {
      return await work(await use(signal));
    } catch (error) {
      // Discard everything for the next attempt: the table may have changed.
      disconnect();
      if (error instanceof QueryError && error.state === NO_UNIQUE_INDEX) {
        const message = "The column for the record's ID needs a unique index.";
        throw new ConnectorError('invalid_config', message, 'permanent');
      }
      throw toConnectorError(error);
    } finally {
      signal.removeEventListener('abort', disconnect);
    }
  }

  return {
    // In order, in one session: a later row may depend on an earlier one.
    batching: BATCHING,
    open: (signal) => guarded(signal, async () => undefined),
    write: (batch, signal) =>
      guarded(signal, async (open): Promise<WriteResult> => {
        const rejected = await insertBatch(open.query, open.table, batch);
        return rejected.length === 0 ? {} : { rejected };
      }),
    close: async () => {
      // A clean shutdown of the session is optional: wait at most 1 s for it.
      if (session)
        await Promise.race([session.end().catch(() => undefined), timeout(1_000, undefined, { ref: false })]);
      disconnect();
    },
  };
}
