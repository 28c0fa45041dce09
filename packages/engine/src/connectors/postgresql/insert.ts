import type { Batch } from '../../records/batch.js';
import type { Refusal as RefusedRecord } from '../../runner/ends.js';
import { quoted } from './find-table.js';
import type { OutputTable } from './output-table.js';
import { Refusal, type Query } from './session.js';

/**
 * What the server holds against a row, by its SQLSTATE: data exceptions, broken constraints, checks of a view, what a
 * trigger raises, an index entry that is too long. https://www.postgresql.org/docs/current/errcodes-appendix.html
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
  if (!(error instanceof Refusal)) return undefined;
  return reasons.find(([start]) => error.state.startsWith(start))?.[1];
}

/**
 * Inserts a batch, all of it or none: in one statement when its records have the same fields, else in one transaction.
 * Records that the server will never take are found by halving and left out.
 * @throws Refusal, EgressError
 */
export async function insertBatch(query: Query, table: OutputTable, batch: Batch): Promise<RefusedRecord[]> {
  const groups = groupByColumns(table, batch);
  const refused = (groups.get('') ?? []).map((index) => ({ index, reason: 'no_matching_column' }));
  groups.delete('');
  const parts = [...groups.values()];
  try {
    await insertParts(query, table, batch, parts);
    return refused;
  } catch (error) {
    if (reasonOf(error) === undefined) throw error;
  }
  return transaction(query, async () => {
    // What is checked at the end of a transaction by itself would not say which row it was.
    await query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const part of parts) refused.push(...(await halve(query, table, batch, part)));
    return refused;
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

async function halve(
  query: Query,
  table: OutputTable,
  batch: Batch,
  part: readonly number[],
): Promise<RefusedRecord[]> {
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

/** By the columns they fill: a column that a record does not mention gets its default. */
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

/** The server reads the fields as the types of their columns are read. The records go as one value, digits untouched. */
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
