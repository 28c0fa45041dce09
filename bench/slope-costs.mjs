import { LOADS } from './slope-tools.mjs';

/** Returns an object with each value replaced. */
export const mapValues = (object, of) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, of(value, key)]));

/** Returns what one of `count` costs, by role. */
export const perUnit = (costs, count) => mapValues(costs, (cost) => cost / count);

/** Returns the rows of each table that one of `count` has added. */
export const rowsPerUnit = (after, before, count) =>
  Object.fromEntries(
    Object.keys(after)
      .map((table) => [table, (after[table] - (before[table] ?? 0)) / count])
      .filter(([, rows]) => rows > 0),
  );

/**
 * Divides the costs of the four loads into those of a request, a record, a byte and a report: four
 * equations with four unknowns, by role.
 * @param costs of a request of each load, by load and role
 * @param reports of a request of each load: a pipeline reports at most once in two seconds
 */
export const divide = (costs, reports) =>
  mapValues(costs.small, (_cost, role) => {
    const equations = Object.entries(LOADS).map(([load, { records, bytes }]) => [
      1,
      records,
      records * bytes,
      reports[load],
      costs[load][role],
    ]);
    const [request, record, byte, report] = solve(equations);
    return { request, record, byte, report };
  });

/** Solves linear equations, each of its factors and the result, by elimination. */
export function solve(equations) {
  const rows = equations.map((row) => [...row]);
  for (const [column] of rows.entries()) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) => (Math.abs(row[column]) > Math.abs(best[column]) ? row : best));
    const at = rows.indexOf(pivot);
    [rows[column], rows[at]] = [rows[at], rows[column]];
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = row[column] / pivot[column];
      for (const [index, value] of pivot.entries()) row[index] -= factor * value;
    }
  }
  return rows.map((row, index) => row.at(-1) / row[index]);
}

/**
 * Returns the CPU time of the service for delivering to a web server in addition to `dev-null`: a
 * request, a record, and a byte.
 * @param http,devNull CPU time of a request of each load to the web server, and to `dev-null`
 */
export function httpCosts({ http, devNull }) {
  const more = (kind) => http[kind] - devNull[kind];
  const { large, short, trickle } = LOADS;
  const byte = Math.max(0, (more('large') - more('short')) / (large.records * (large.bytes - short.bytes)));
  // With 500 records, the cost of the request itself is small.
  const record = Math.max(0, more('short') / short.records - byte * short.bytes);
  return { request: Math.max(0, more('trickle') - record - byte * trickle.bytes), record, byte };
}
