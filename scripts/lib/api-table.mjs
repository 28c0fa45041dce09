import { readFileSync } from 'node:fs';
import { formatted } from './format.mjs';
import { root } from './root.mjs';

/** Path of the page. */
export const page = `${root}docs/public-api.md`;

const sections = JSON.parse(readFileSync(new URL('public-operations.json', import.meta.url), 'utf8'));

/** Operations of the public API. A list that lacks one would report too few as missing. */
const TOTAL = 184;

/** An operation without the names of its parameters: `GET /v1/{}/inputs/{}`. */
const shapeOf = (operation) => operation.replaceAll(/\{\w+\}/g, '{}');

/**
 * Renders the page that compares the service with the public API, as Markdown.
 * @param document OpenAPI document of the service
 * @throws Error if the list is incomplete, or an operation is said to be served at an address that the
 *   document lacks
 */
export async function apiTable(document) {
  const own = new Set(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => shapeOf(`${method.toUpperCase()} ${path}`)),
    ),
  );
  const count = { served: 0, elsewhere: 0, 'not yet': 0, 'left out': 0 };
  const rowOf = (entry, missing) => {
    const { operation, at, leftOut, why = missing } = typeof entry === 'string' ? { operation: entry } : entry;
    if (at !== undefined && !own.has(shapeOf(at))) throw new Error(`The service does not have ${at}.`);
    const [state, remark] = own.has(shapeOf(operation))
      ? ['served', '']
      : at !== undefined
        ? ['elsewhere', `\`${at}\``]
        : leftOut !== undefined
          ? ['left out', leftOut]
          : ['not yet', why];
    if (remark === undefined)
      throw new Error(`${operation} is not served, and public-operations.json doesn't say why.`);
    count[state] += 1;
    return `| \`${operation}\` | ${state} | ${remark} |`;
  };
  const tables = sections.map(({ title, missing, operations }) =>
    [
      `## ${title}`,
      '',
      '| Operation | State | |',
      '| --- | --- | --- |',
      ...operations.map((entry) => rowOf(entry, missing)),
    ].join('\n'),
  );
  const total = Object.values(count).reduce((sum, each) => sum + each, 0);
  if (total !== TOTAL) throw new Error(`public-operations.json has ${total} operations instead of ${TOTAL}.`);
  const elsewhere = count.elsewhere > 0 ? `, and ${count.elsewhere} at another one` : '';
  const text = `# The public API

<!-- Written by npm run api-table from the service's OpenAPI document and scripts/lib/public-operations.json. Changes by hand are lost. -->

Clients of the public API know ${total} operations. The service has ${count.served} of them at the same
address, also under \`/api\`${elsewhere}. ${count['not yet']} are not there yet, and ${count['left out']} are left out.
Operations of the service's own are in [its README](../packages/service/README.md#calls), and
[Coming from the public client](guides/public-client.md) is for front-end developers.

${tables.join('\n\n')}
`;
  return formatted(page, text);
}
