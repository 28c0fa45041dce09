import { setTimeout as timeout } from 'node:timers/promises';
import {
  ConnectorError,
  type Batch,
  type JsonValue,
  type Output,
  type WriteResult,
} from '@connector-frame/engine/connector-api';
import { parseExact } from '../exact-json.js';
import { toRetry, writeParts, type PartResult } from '../output/split-batch.js';
import { at } from '../read.js';
import { toSqlConnectorError } from './errors.js';
import { nameIn, objectsOf, rowFailureOf, SqlError, type SqlSession, type SqlValue } from './session.js';

/** The column that takes the whole record as JSON, if the table has it. */
export const RECORD_COLUMN = '_record';
/** The column that takes the record's ID, if the table has it. With a unique index, it prevents duplicates. */
export const ID_COLUMN = '_record_id';

/** A column that takes values. */
export interface OutputColumn {
  name: string;
  /** Name of its type, in lower case. */
  type: string;
}

/** What an output has to know about a product's SQL. */
export interface OutputDialect {
  product: string;
  /** Quotes any name as an identifier. */
  quote(name: string): string;
  /** Placeholder of a parameter, counted from 1. */
  placeholder(index: number): string;
  /** Maximum number of parameters and rows of one statement. */
  maxParameters: number;
  maxRows: number;
  /**
   * Query for the columns of a table that take values, in order: `column_name`, `type_name`. Its
   * parameters are the schema and the table.
   */
  columns: string;
  /**
   * Statement that creates a table with the columns `_record_id`, `_loaded_at` and `_record`, unless
   * it exists.
   */
  create(schema: string, table: string): string;
  /** SQL for the value of a placeholder in a column, if it is not the placeholder. */
  bind?(placeholder: string, column: OutputColumn): string;
  /** The product does not enforce unique keys: existing IDs are looked up before each insert. */
  looksUpIds?: true;
  /** Converts a field to the parameter for its column. */
  toValue(value: JsonValue, column: OutputColumn): SqlValue;
}

export interface TableOutputOptions {
  dialect: OutputDialect;
  schema: string;
  table: string;
  open: (signal: AbortSignal) => Promise<SqlSession>;
}

interface OpenTable {
  session: SqlSession;
  columns: readonly OutputColumn[];
}

/**
 * Inserts records into a table: each field into the column of the same name, the whole record into
 * `_record`. Creates the table if there is none.
 */
export function createTableOutput({ dialect, schema, table, open: openSession }: TableOutputOptions): Output {
  const { product } = dialect;
  const target = `${dialect.quote(schema)}.${dialect.quote(table)}`;
  let opened: OpenTable | undefined;

  const disconnect = (): void => {
    opened?.session.destroy();
    opened = undefined;
  };

  async function use(signal: AbortSignal): Promise<OpenTable> {
    if (opened?.session.closed) disconnect();
    if (opened) return opened;
    const session = await openSession(signal);
    opened = { session, columns: [] };
    opened = { session, columns: await describe(session) };
    return opened;
  }

  async function describe(session: SqlSession): Promise<OutputColumn[]> {
    const existing = await readColumns(session, dialect, schema, table);
    if (existing.length > 0) return existing;
    try {
      await session.query(dialect.create(schema, table));
    } catch (error) {
      if (!(error instanceof SqlError) || error.failure !== 'forbidden') throw error;
      const message = `The table ${table} does not exist, and this user may not create it.`;
      throw new ConnectorError('forbidden', message, 'permanent');
    }
    return readColumns(session, dialect, schema, table);
  }

  async function guarded<T>(signal: AbortSignal, work: (open: OpenTable) => Promise<T>): Promise<T> {
    signal.addEventListener('abort', disconnect, { once: true });
    try {
      return await work(await use(signal));
    } catch (error) {
      // Discard everything for the next attempt: the table may have changed.
      disconnect();
      throw toSqlConnectorError(error, product);
    } finally {
      signal.removeEventListener('abort', disconnect);
    }
  }

  const places = (count: number): string =>
    Array.from({ length: count }, (_place, index) => dialect.placeholder(index + 1)).join(', ');

  /** Returns the IDs of the records that an earlier attempt wrote. */
  async function findWritten(session: SqlSession, batch: Batch, indexes: readonly number[]): Promise<Set<unknown>> {
    const id = dialect.quote(ID_COLUMN);
    const sql = `SELECT ${id} FROM ${target} WHERE ${id} IN (${places(indexes.length)})`;
    const ids = indexes.map((index) => batch.recordId(index));
    return new Set((await session.query(sql, ids)).rows.map(([found]) => found));
  }

  async function write(batch: Batch, { session, columns }: OpenTable): Promise<WriteResult> {
    const parsed = batch.lines.map((line) => parseExact(line));
    const filledBy = (index: number): OutputColumn[] =>
      columns.filter(({ name }) => isOwn(name) || at(parsed[index], name) !== undefined);
    const hasId = columns.some(({ name }) => name === ID_COLUMN);
    const { parts, unmatched } = group(batch, filledBy, dialect);
    const insert = async (indexes: readonly number[]): Promise<void> => {
      const filled = filledBy(indexes[0] ?? 0);
      const values = indexes.flatMap((index) =>
        filled.map((column): SqlValue => {
          if (column.name === RECORD_COLUMN) return batch.lines[index] ?? '{}';
          if (column.name === ID_COLUMN) return batch.recordId(index);
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of parsed JSON
          const value = (at(parsed[index], column.name) ?? null) as JsonValue;
          return value === null ? null : dialect.toValue(value, column);
        }),
      );
      const rows = indexes.map((_index, row) => {
        const values = filled.map((column, position) => {
          const place = dialect.placeholder(row * filled.length + position + 1);
          return dialect.bind?.(place, column) ?? place;
        });
        return `(${values.join(', ')})`;
      });
      const names = filled.map(({ name }) => dialect.quote(name));
      await session.query(`INSERT INTO ${target} (${names.join(', ')}) VALUES ${rows.join(', ')}`, values);
    };
    const result = await writeParts(parts, async (all): Promise<PartResult> => {
      const existing = hasId && dialect.looksUpIds ? await findWritten(session, batch, all) : new Set();
      const indexes = all.filter((index) => !existing.has(batch.recordId(index)));
      try {
        if (indexes.length > 0) await insert(indexes);
        return {};
      } catch (error) {
        const reason = rowFailureOf(error);
        if (reason === undefined) throw toSqlConnectorError(error, product);
        const written = reason === 'already_there' && hasId ? await findWritten(session, batch, indexes) : new Set();
        if (written.size === 0) return { partRejection: reason };
        const missing = indexes.filter((index) => !written.has(batch.recordId(index)));
        return missing.length === 0 ? {} : { retry: toRetry(toSqlConnectorError(error, product), missing) };
      }
    });
    if (unmatched.length === 0) return result;
    const rejected = unmatched.map((index) => ({ index, reason: 'no_matching_column' }));
    return { ...result, rejected: [...(result.rejected ?? []), ...rejected] };
  }

  return {
    // In order, in one session: a later row may depend on an earlier one.
    batching: { records: 2_000, bytes: 1_000_000, waitMs: 200, waitFrom: 'write' },
    open: (signal) => guarded(signal, async () => undefined),
    write: (batch, signal) => guarded(signal, (open) => write(batch, open)),
    close: async () => {
      // A clean shutdown of the session is optional: wait at most 1 s for it.
      const { session } = opened ?? {};
      if (session)
        await Promise.race([session.end().catch(() => undefined), timeout(1_000, undefined, { ref: false })]);
      disconnect();
    },
  };
}

const isOwn = (name: string): boolean => name === RECORD_COLUMN || name === ID_COLUMN;

/** Reads the columns of a table that take values; empty if there is no such table. */
export async function readColumns(
  session: SqlSession,
  dialect: OutputDialect,
  schema: string,
  table: string,
): Promise<OutputColumn[]> {
  return objectsOf(await session.query(dialect.columns, [schema, table])).map((row) => ({
    name: nameIn(row, 'column_name'),
    type: nameIn(row, 'type_name').toLowerCase(),
  }));
}

/**
 * Groups records by the columns they fill, so that a column missing from a record gets its default,
 * within the limits of a statement.
 */
function group(
  batch: Batch,
  filledBy: (index: number) => readonly OutputColumn[],
  { maxParameters, maxRows }: OutputDialect,
): { parts: number[][]; unmatched: number[] } {
  const groups = new Map<string, { width: number; indexes: number[] }>();
  const unmatched: number[] = [];
  for (let index = 0; index < batch.lines.length; index += 1) {
    const filled = filledBy(index);
    // An ID alone says nothing about the record.
    if (filled.every(({ name }) => name === ID_COLUMN)) {
      unmatched.push(index);
      continue;
    }
    const key = JSON.stringify(filled.map(({ name }) => name));
    const found = groups.get(key) ?? { width: filled.length, indexes: [] };
    groups.set(key, found);
    found.indexes.push(index);
  }
  const parts: number[][] = [];
  for (const { width, indexes } of groups.values()) {
    const size = Math.max(1, Math.min(maxRows, Math.floor(maxParameters / width)));
    for (let start = 0; start < indexes.length; start += size) parts.push(indexes.slice(start, start + size));
  }
  return { parts, unmatched };
}
