import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { Batch, ConnectorContext, Output, WriteResult } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { at, text } from '../_shared/read.js';
import { toSqlConnectorError } from '../_shared/sql/errors.js';
import { rowFailureOf } from '../_shared/sql/session.js';
import { ID_COLUMN, RECORD_COLUMN } from '../_shared/sql/table-output.js';
import { SnowflakeClient } from './client.js';
import { readSnowflake } from './config.js';
import { identifier, literal, quotedName, storedName } from './identifier.js';

const PRODUCT = 'Snowflake';
export const NO_STAGE = 'Records are inserted with SQL, not loaded through a stage. Leave the stage empty.';

/** A column, with the type that a value is cast to. */
interface Column {
  name: string;
  /** Absent: it takes any JSON. */
  type: string | undefined;
}

/** Inserts records into a table: each field into the column of the same name. */
export function createSnowflakeOutput(config: ConnectorConfig, { egress, clock }: ConnectorContext): Output {
  const found = readSnowflake(config);
  if ('ok' in found) throw invalidConfig(found.message);
  const target = found;
  const { settings } = config;
  if (text(settings, 'stage') !== undefined) throw invalidConfig(NO_STAGE);
  const client = new SnowflakeClient(target, egress, clock);
  const table = text(settings, 'table') ?? '';
  const ignoresCase = at(settings, 'case_insensitivity') === true;
  let columns: readonly Column[] | undefined;

  async function write(batch: Batch, signal: AbortSignal): Promise<WriteResult> {
    columns ??= await readColumns(client, target.database, target.schema, table, signal);
    if (columns.length === 0) throw invalidConfig(`The table ${table} does not exist, or this role may not see it.`);
    const all = columns;
    const filledBy = (index: number): Column[] =>
      all.filter(({ name }) => ownField(name) !== undefined || fieldOf(batch.records[index] ?? {}, name) !== undefined);
    const groups = new Map<string, number[]>();
    const unmatched: number[] = [];
    for (let index = 0; index < batch.lines.length; index += 1) {
      const names = filledBy(index).map(({ name }) => name);
      if (names.every((name) => ownField(name) === 'id')) unmatched.push(index);
      else groups.set(names.join('\0'), [...(groups.get(names.join('\0')) ?? []), index]);
    }
    const result = await writeParts([...groups.values()], async (indexes): Promise<PartResult> => {
      const part = batch.pick(indexes);
      const filled = filledBy(indexes[0] ?? 0);
      const rows = part.lines.map((line, index) => `{"id":${JSON.stringify(part.recordId(index))},"record":${line}}`);
      try {
        await client.rows(insertStatement(filled), [`[${rows.join(',')}]`], signal, part.id);
        return {};
      } catch (error) {
        const reason = rowFailureOf(error);
        if (reason === undefined) throw toSqlConnectorError(error, PRODUCT);
        return { partRejection: reason };
      }
    });
    const rejected = unmatched.map((index) => ({ index, reason: 'no_matching_column' }));
    return rejected.length === 0 ? result : { ...result, rejected: [...(result.rejected ?? []), ...rejected] };
  }

  const fieldOf = (record: Readonly<Record<string, unknown>>, name: string): unknown =>
    ignoresCase
      ? Object.keys(record).find((key) => key.toUpperCase() === name.toUpperCase())
      : Object.hasOwn(record, name)
        ? name
        : undefined;

  /** One value holds all records, so that they need no literals and numbers keep their digits. */
  function insertStatement(filled: readonly Column[]): string {
    const get = ignoresCase ? 'GET_IGNORE_CASE' : 'GET';
    const values = filled.map(({ name, type }) => {
      const own = ownField(name);
      const value = own === undefined ? `${get}(f.value:record, ${literal(name)})` : `f.value:${own}`;
      if (type === 'VARCHAR' && own === 'record') return `TO_JSON(${value})`;
      return type === undefined ? value : `${value}::${type}`;
    });
    const where = [target.database, target.schema, table].map((name) => identifier(name)).join('.');
    return `INSERT INTO ${where} (${filled.map(({ name }) => quotedName(name)).join(', ')})
      SELECT ${values.join(', ')} FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?))) f ORDER BY f.index`;
  }

  return {
    batching: readBatching(settings),
    ordering: 'none',
    maxConcurrency: 4,
    write: async (batch, signal) => {
      try {
        return await write(batch, signal);
      } catch (error) {
        // The table may have changed.
        columns = undefined;
        throw toSqlConnectorError(error, PRODUCT);
      }
    },
  };
}

function readBatching(settings: Record<string, unknown>): NonNullable<Output['batching']> {
  const number = (name: string, fallback: number): number => {
    const value = at(settings, 'batch_config', name);
    return typeof value === 'number' && value > 0 ? value : fallback;
  };
  return {
    records: Math.min(number('batch_record_count', 5_000), 10_000),
    bytes: Math.min(number('batch_data_size', 500_000), 500_000),
    waitMs: number('publish_rate', 5) * 1_000,
  };
}

/** Returns what a column takes besides fields, by its name. */
function ownField(name: string): 'record' | 'id' | undefined {
  if (name.toLowerCase() === RECORD_COLUMN) return 'record';
  return name.toLowerCase() === ID_COLUMN ? 'id' : undefined;
}

/** Reads the columns of a table; empty if there is no such table. */
export async function readColumns(
  client: SnowflakeClient,
  database: string,
  schema: string,
  table: string,
  signal: AbortSignal,
): Promise<Column[]> {
  const rows = await client.rows(
    `SELECT COLUMN_NAME, DATA_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE FROM ${identifier(database)}.INFORMATION_SCHEMA.COLUMNS
      WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`,
    [storedName(schema), storedName(table)],
    signal,
  );
  return rows.map(([name, type, precision, scale]) => ({
    name: name ?? '',
    type: castOf(type ?? '', precision ?? '38', scale ?? '0'),
  }));
}

function castOf(type: string, precision: string, scale: string): string | undefined {
  switch (type) {
    case 'NUMBER':
      return `NUMBER(${Number(precision)}, ${Number(scale)})`;
    case 'TEXT':
      return 'VARCHAR';
    case 'VARIANT':
      return undefined;
    default:
      return /^[A-Z_]+$/.test(type) ? type : undefined;
  }
}
