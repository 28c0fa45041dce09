import {
  type ConnectorContext,
  ConnectorError,
  type JsonValue,
  type Page,
  type PageInput,
} from '@connector-frame/engine/connector-api';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { at } from '../_shared/read.js';
import { tableError } from '../_shared/sql/tables.js';
import { toConnectorError, invalidConfig } from './connector-error.js';
import { readInputCursor, writeInputCursor } from './input-cursor.js';
import { planInput, type InputPlan, type TablePlan } from './input-plan.js';
import { readTablePage } from './input-scan.js';
import { readInputTarget } from './config.js';
import { openSession, QueryError, type Database, type Session } from './client.js';

/** Longer than the server's `statement_timeout`, so that the server reports the timeout first. */
const QUERY_MS = 75_000;
/** Maximum bytes of one response: 100 rows of 512 KiB each, with headroom. */
const MAX_BYTES = 96 * 1024 * 1024;
const DEFAULT_LOOKBACK = 10;

/**
 * Reads new rows of tables. Never skips a row, and delivers each exactly once as long as nothing
 * fails (decision 012). One call of `pages` is one pass over all tables; the connection stays open
 * for the next call.
 * @throws ConnectorError `invalid_config`, permanent
 */
export function createPostgresqlInput(config: ConnectorConfig, { egress, clock }: ConnectorContext): PageInput {
  const target = readInputTarget(config);
  if ('ok' in target) throw invalidConfig(target);
  const lookback = Number(at(config.settings, 'lookback_minutes') ?? DEFAULT_LOOKBACK);
  const connection = new Connection(target.database, egress);

  async function* read(cursor: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page> {
    const { query } = await connection.use(signal);
    const tables = readInputCursor(cursor);
    const plan = await planInput(query, config.settings);
    const problems = problemsOf(plan, new Set(Object.keys(tables)));
    const pause = (): Promise<void> => clock.sleep(100, signal);
    // Alternate between tables, so that a large one does not delay the others.
    for (let open = plan.tables; open.length > 0 && !signal.aborted;) {
      const rest: TablePlan[] = [];
      for (const table of open) {
        if (signal.aborted) return;
        try {
          const page = await readTablePage({ query, lookbackMinutes: lookback, pause }, table, tables[table.sql]);
          tables[table.sql] = page.cursor;
          if (!page.done) rest.push(table);
          if (page.moved) yield { records: page.records, cursor: writeInputCursor(tables) };
        } catch (error) {
          if (!ofTable(error)) throw error;
          problems.push(tableError(table.label, toConnectorError(error)));
        }
      }
      open = rest;
    }
    const [first] = problems;
    if (first && !signal.aborted) throw first;
  }

  return {
    kind: 'pages',
    readsAhead: true,
    async *pages(cursor, signal) {
      try {
        yield* read(cursor, signal);
      } catch (error) {
        if (!signal.aborted) throw toConnectorError(error);
      }
    },
    close: () => connection.close(),
  };
}

/** Returns whether the error concerns only one table; the others can still be read. */
function ofTable(error: unknown): boolean {
  return error instanceof QueryError && /^(42|57014|22|55)/.test(error.state);
}

function problemsOf(plan: InputPlan, known: ReadonlySet<string>): ConnectorError[] {
  const problems = plan.problems.map(({ code, message }) => new ConnectorError(code, message, 'permanent'));
  if (plan.skipped.some((table) => known.has(table))) {
    const message = 'A table has lost its cursor column. List it with another one.';
    problems.push(new ConnectorError('not_found', message, 'permanent'));
  }
  if (plan.tables.length === 0 && problems.length === 0) {
    const message = 'No table has a cursor column. List the tables with their cursor columns.';
    problems.push(new ConnectorError('not_found', message, 'permanent'));
  }
  return problems;
}

/** The connection of one run: opened on first use, closed at the end of the run. */
class Connection {
  #session: Session | undefined;
  readonly #database: Database;
  readonly #egress: ConnectorContext['egress'];

  constructor(database: Database, egress: ConnectorContext['egress']) {
    this.#database = database;
    this.#egress = egress;
  }

  async use(signal: AbortSignal): Promise<Session> {
    if (this.#session && !this.#session.closed) return this.#session;
    const limits = { queryMs: QUERY_MS, maxBytes: MAX_BYTES };
    const session = await openSession(this.#database, this.#egress, signal, limits);
    signal.addEventListener('abort', () => session.destroy(), { once: true });
    if (signal.aborted) session.destroy();
    this.#session = session;
    return session;
  }

  async close(): Promise<void> {
    this.#session?.destroy();
    this.#session = undefined;
  }
}
