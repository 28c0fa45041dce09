import {
  ConnectorError,
  EgressError,
  isRecord,
  type Clock,
  type DataRecord,
  type JsonValue,
  type Page,
  type PageInput,
} from '@connector-frame/engine/connector-api';
import { parseExact } from '../exact-json.js';
import { toSqlConnectorError } from './errors.js';
import { readPositions, RecentRows, writePositions, type Place, type TablePosition } from './recent-rows.js';
import { SqlError, type SqlSession, type SqlValue } from './session.js';
import { planTables, type InputDialect, type TablePlan } from './table-plan.js';
import { tableError } from './tables.js';

/** Rows of one query. Halved for tables with very long rows. */
const PAGE_ROWS = 1_000;
/** Keys to remember, of all tables together and of one. */
const MAX_KEYS = 100_000;
const MAX_TABLE_KEYS = 5_000;
/** Maximum bytes of one row as JSON; a larger one does not fit into a batch. */
const MAX_ROW = 512 * 1024;

export interface TableInputOptions {
  dialect: InputDialect;
  settings: Record<string, unknown>;
  /** The schemas to read. */
  schemas: readonly string[];
  lookbackMinutes: number;
  clock: Clock;
  open: (signal: AbortSignal) => Promise<SqlSession>;
}

/**
 * Reads new rows of tables in the order of a cursor column. One call of `pages` is one pass over all
 * tables; the connection stays open for the next call.
 */
export function createTableInput(options: TableInputOptions): PageInput {
  const { dialect, settings, schemas } = options;
  const connection = new Connection(options.open);
  const pageRows = new Map<string, number>();

  /** Reads one page, with fewer rows if they are too long for one response. */
  async function fetchPage(plan: TablePlan, after: Place | undefined, signal: AbortSignal): Promise<Fetched> {
    for (;;) {
      const key = keyOf(plan);
      const limit = pageRows.get(key) ?? PAGE_ROWS;
      try {
        return await fetchRows(await connection.use(signal), dialect, plan, after, limit);
      } catch (error) {
        if (!(error instanceof EgressError) || error.reason !== 'too_large') throw error;
        if (limit === 1)
          throw new ConnectorError('too_large', `${plan.label} has a row that is too large.`, 'permanent');
        pageRows.set(key, Math.ceil(limit / 8));
      }
    }
  }

  async function* readTable(
    plan: TablePlan,
    positions: Map<string, TablePosition>,
    limit: number,
    signal: AbortSignal,
  ): AsyncGenerator<Page> {
    const key = keyOf(plan);
    const before = positions.get(key);
    const { clock, lookbackMinutes } = options;
    const pass = new RecentRows(plan.order[0].name, before, {
      now: clock.now(),
      lookbackMs: lookbackMinutes * 60_000,
      limit,
    });
    for (let done = false; !done && !signal.aborted;) {
      const { records, places, end } = await fetchPage(plan, pass.after, signal);
      const isNew = pass.add(places);
      const fresh = records.filter((_record, index) => isNew[index]);
      done = end;
      const position = end ? pass.end() : pass.position;
      const moved = JSON.stringify(position) !== JSON.stringify(before);
      // Not every page of rows that are read again needs a commit.
      if (fresh.length === 0 && !(end && moved)) continue;
      positions.set(key, position);
      yield { records: fresh, cursor: writePositions(positions) };
    }
  }

  async function* read(cursor: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page> {
    const plan = await planTables(await connection.use(signal), dialect, settings, schemas);
    const positions = readPositions(cursor);
    const errors = plan.problems.map(({ code, message }) => new ConnectorError(code, message, 'permanent'));
    if (plan.tables.length === 0 && errors.length === 0) {
      const message = 'No table can be read in the order of a column. List the tables with their cursor columns.';
      errors.push(new ConnectorError('not_found', message, 'permanent'));
    }
    const limit = Math.min(MAX_TABLE_KEYS, Math.floor(MAX_KEYS / Math.max(plan.tables.length, 1)));
    // Alternate between tables, so that a large one does not delay the others.
    let open = plan.tables.map((table) => ({ table, pages: readTable(table, positions, limit, signal) }));
    while (open.length > 0 && !signal.aborted) {
      const rest: typeof open = [];
      for (const each of open) {
        try {
          const { value, done } = await each.pages.next();
          if (done) continue;
          yield value;
          rest.push(each);
        } catch (error) {
          if (!isOfTable(error)) throw error;
          errors.push(tableError(each.table.label, toSqlConnectorError(error, dialect.product)));
        }
      }
      open = rest;
    }
    const [first] = errors;
    if (first && !signal.aborted) throw first;
  }

  return {
    kind: 'pages',
    readsAhead: true,
    async *pages(cursor, signal) {
      try {
        yield* read(cursor, signal);
      } catch (error) {
        if (!signal.aborted) throw toSqlConnectorError(error, dialect.product);
      }
    },
    close: () => connection.close(),
  };
}

const keyOf = ({ schema, name }: TablePlan): string => `${schema}.${name}`;

/** Returns whether the error concerns only one table; the others can still be read. */
function isOfTable(error: unknown): boolean {
  const { failure } = error instanceof SqlError ? error : { failure: undefined };
  return failure !== undefined && !['invalid_credentials', 'no_database', 'busy', 'stopping'].includes(failure);
}

interface Fetched {
  records: DataRecord[];
  places: Place[];
  end: boolean;
}

/** Builds the query for rows in order, and reads one page after a place. */
async function fetchRows(
  session: SqlSession,
  dialect: InputDialect,
  plan: TablePlan,
  after: Place | undefined,
  limit: number,
): Promise<Fetched> {
  const columns = plan.order.map(({ name }) => `t.${dialect.quote(name)}`);
  const [first = ''] = columns;
  const values: SqlValue[] = [];
  const bind = (index: number): string => {
    values.push(after?.[index] ?? '');
    return plan.order[index]?.type.bind(dialect.placeholder(values.length)) ?? '';
  };
  const conditions = [`${first} IS NOT NULL`, ...(after ? [`${first} >= ${bind(0)}`, laterThan(columns, bind)] : [])];
  const picked = plan.order.map(({ type }, index) => type.read(columns[index] ?? ''));
  const selected = plan.columns.map(({ name, typeName }) => dialect.select?.(`t.${dialect.quote(name)}`, typeName));
  const all = selected.flatMap((value, index) =>
    value ? [`${value.sql} AS ${dialect.quote(plan.columns[index]?.name ?? '')}`] : [],
  );
  const sql = `SELECT ${all.length > 0 ? all.join(', ') : 't.*'},
      ${picked.map((expression, index) => `${expression} AS cf_place_${index}`).join(', ')}
    FROM ${dialect.quote(plan.schema)}.${dialect.quote(plan.name)} t
    WHERE ${conditions.join(' AND ')} ORDER BY ${columns.join(', ')} ${dialect.limit(limit)}`;
  const result = await session.query(sql, values);
  const width = result.columns.length - picked.length;
  const names = result.columns.slice(0, width);
  return {
    records: result.rows.map((row) => {
      const values = row.map((value, index) => (selected[index]?.isNumber ? numberOf(value) : value));
      return toRecord(plan, names, values);
    }),
    places: result.rows.map((row) => row.slice(width).map(String)),
    end: result.rows.length < limit,
  };
}

const numberOf = (value: JsonValue): JsonValue => (typeof value === 'string' ? parseExact(value) : value);

/** Row values are not used: not every product compares them with an index, or at all. */
function laterThan(columns: readonly string[], bind: (index: number) => string): string {
  const alternatives = columns.map((column, index) =>
    [...columns.slice(0, index).map((equal, at) => `${equal} = ${bind(at)}`), `${column} > ${bind(index)}`].join(
      ' AND ',
    ),
  );
  return `(${alternatives.map((each) => `(${each})`).join(' OR ')})`;
}

/** A column named `_schema` or `_table` takes precedence. */
function toRecord({ schema, name, order }: TablePlan, names: readonly string[], row: readonly JsonValue[]): DataRecord {
  const from = { _schema: schema, _table: name };
  const entries = names.map((column, index): [string, JsonValue] => [column, row[index] ?? null]);
  const record = Object.fromEntries([...Object.entries(from), ...entries]);
  const bytes = Buffer.byteLength(JSON.stringify(record));
  if (bytes <= MAX_ROW && isRecord(record)) return record;
  const keys = entries.filter(([column]) => order.some((each) => each.name === column));
  return { ...from, ...Object.fromEntries(keys), _omitted: 'too_large', _bytes: bytes };
}

/** The connection of one run: opened on first use, closed at the end of the run. */
class Connection {
  #session: SqlSession | undefined;
  readonly #open: TableInputOptions['open'];

  constructor(open: TableInputOptions['open']) {
    this.#open = open;
  }

  async use(signal: AbortSignal): Promise<SqlSession> {
    if (this.#session && !this.#session.closed) return this.#session;
    const session = await this.#open(signal);
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
