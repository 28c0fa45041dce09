import type { Batch, Rejection } from '@connector-frame/engine/connector-api';
import { quoted } from './find-table.js';
import type { OutputTable } from './output-table.js';
import { QueryError, type Query } from './client.js';

/**
 * Reasons to reject a row, by SQLSTATE prefix: data exceptions, constraint violations, check
 * options of views, exceptions raised by triggers, oversized index entries.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const reasons: readonly (readonly [start: string, reason: string])[] = [
  ['22', 'invalid_value'],
  ['23502', 'missing_value'],
  ['23503', 'no_such_reference'],
  ['23505', 'already_there'],
  ['23', 'constraint'],
  ['44', 'constraint'],
  ['P0001', 'refused_by_trigger'],
  ['54', 'too_large'],
];

function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof QueryError)) return undefined;
  return reasons.find(([start]) => error.state.startsWith(start))?.[1];
}

/**
 * Inserts a batch atomically: in one statement if its records have the same fields, otherwise in
 * one transaction. Finds permanently rejected records by bisection, leaves them out and returns
 * them.
 * @throws QueryError, EgressError
 */
export async function insertBatch(query: Query, table: OutputTable, batch: Batch): Promise<Rejection[]> {
  const groups = groupByColumns(table, batch);
  const rejected = (groups.get('') ?? []).map((index) => ({ index, reason: 'no_matching_column' }));
  groups.delete('');
  const parts = [...groups.values()];
  try {
    await insertParts(query, table, batch, parts);
    return rejected;
  } catch (error) {
    if (reasonOf(error) === undefined) throw error;
  }
  return transaction(query, async () => {
    // A deferred constraint fails at commit, without telling which row violates it.
    await query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const part of parts) rejected.push(...(await halve(query, table, batch, part)));
    return rejected;
  });
}

async function insertParts(query: Query, table: OutputTable, batch: Batch, parts: readonly number[][]): Promise<void> {
  const [only] = parts;
  if (!only) return;
  if (parts.length === 1) return insert(query, table, batch, only);
  await transaction(query, async () => {
    for (const part of parts) await insert(query, table, batch, part);
  });
}

async function transaction<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query('BEGIN');
  try {
    const result = await work();
    await query('COMMIT');
    return result;
  } catch (error) {
    await query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function halve(query: Query, table: OutputTable, batch: Batch, part: readonly number[]): Promise<Rejection[]> {
  await query('SAVEPOINT part');
  try {
    await insert(query, table, batch, part);
    await query('RELEASE SAVEPOINT part');
    return [];
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    await query('ROLLBACK TO SAVEPOINT part');
    await query('RELEASE SAVEPOINT part');
    const [index] = part;
    if (part.length === 1 && index !== undefined) return [{ index, reason }];
  }
  const middle = Math.ceil(part.length / 2);
  return [
    ...(await halve(query, table, batch, part.slice(0, middle))),
    ...(await halve(query, table, batch, part.slice(middle))),
  ];
}

/**
 * Groups records by the columns they fill, so that a column missing from a record gets its default.
 */
function groupByColumns({ columns, record }: OutputTable, batch: Batch): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const [index, each] of batch.records.entries()) {
    const filled = columns.filter((column) => Object.hasOwn(each, column));
    const key = filled.length === 0 && !record ? '' : JSON.stringify(filled);
    const group = groups.get(key);
    if (group) group.push(index);
    else groups.set(key, [index]);
  }
  return groups;
}

/**
 * Inserts records that fill the same columns. The server converts each field to its column's type.
 * The records are sent as one JSON value, so numbers keep all their digits.
 */
async function insert(query: Query, table: OutputTable, batch: Batch, part: readonly number[]): Promise<void> {
  const [first = 0] = part;
  const fields = table.columns.filter((column) => Object.hasOwn(batch.records[first] ?? {}, column)).map(quoted);
  const into = [...fields];
  const from = fields.map((field) => `r.${field}`);
  const values: unknown[] = [`[${part.map((index) => batch.lines[index]).join(',')}]`];
  let ids = '';
  if (table.record) {
    into.push(quoted(table.record.name));
    from.push(`e.doc::${table.record.type}`);
  }
  if (table.id) {
    into.push(quoted(table.id.name));
    from.push(`i.id::${table.id.type}`);
    ids = ' JOIN unnest($2::text[]) WITH ORDINALITY AS i (id, place) ON i.place = e.place';
    values.push(part.map((index) => batch.recordId(index)));
  }
  await query(
    `INSERT INTO ${table.sql} (${into.join(', ')})
     SELECT ${from.join(', ')} FROM json_array_elements($1::json) WITH ORDINALITY AS e (doc, place)
     CROSS JOIN LATERAL json_populate_record(NULL::${table.sql}, e.doc) AS r${ids}
     ORDER BY e.place${table.onConflict}`,
    values,
  );
}
