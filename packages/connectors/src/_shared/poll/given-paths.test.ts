/**
 * Queries and paths that a customer enters. The server is an independent one, graphql-js, the reference
 * implementation, which validates queries and coerces variables.
 */
import { buildSchema, graphqlSync } from 'graphql';
import { expect, test } from 'vitest';
import { open, records, streamed, upTo } from '../../../../../test/support/poll-acme.js';

const all = records(0, 5).map(({ id, n }) => ({ id, n }));
const schema = buildSchema(`
  type Item { id: ID n: Int }
  type Edge { node: Item }
  type PageInfo { endCursor: String hasNextPage: Boolean! }
  type Items { edges: [Edge] pageInfo: PageInfo! }
  type Query { items(first: Int!, after: String, even: Boolean, ids: [ID!], name: String): Items first: Item none: Item }
`);
const rootValue = {
  first: all[0],
  items: ({ first, after, even, ids }: { first: number; after?: string; even?: boolean; ids?: string[] }) => {
    const found = all.filter(({ id, n }) => (even !== true || n % 2 === 0) && (!ids || ids.includes(id)));
    const from = Number(after ?? 0);
    const page = found.slice(from, from + first).map((node) => ({ node }));
    const end = from + page.length;
    return { edges: page, pageInfo: { endCursor: String(end), hasNextPage: end < found.length } };
  },
};

const definition = streamed({
  query: {},
  graphql: { query: '{{/settings/query}}', given: '/settings/variables' },
  records: { path: '{{/settings/location}}', shape: 'any' },
  pagination: {
    kind: 'body_cursor',
    path: '{{/settings/cursor_path}}',
    more: '{{/settings/more_path}}',
    parameter: '/variables/after',
  },
  cursor: { kind: 'none' },
});

async function read(settings: Record<string, unknown>) {
  const { driver, requests } = await open(
    definition,
    (_query, { body }) => {
      const { query, variables } = JSON.parse(body);
      return { body: graphqlSync({ schema, source: query, rootValue, variableValues: variables }) };
    },
    { settings },
  );
  return { driver, requests };
}

const query = `query ($size: Int!, $after: String, $even: Boolean, $ids: [ID!], $name: String) {
  items(first: $size, after: $after, even: $even, ids: $ids, name: $name) {
    edges { node { id n } } pageInfo { endCursor hasNextPage }
  }
}`;
const size = { name: 'size', value: '2' };
const paths = { cursor_path: 'data.items.pageInfo.endCursor', more_path: 'data.items.pageInfo.hasNextPage' };

test('reads all pages of a query, whatever its variables are called', async () => {
  for (const given of [query, query.replaceAll('$after', '$cursor')]) {
    const settings = { query: given, location: 'data.items.edges.*.node', ...paths, variables: [size] };
    const { driver, requests } = await read(settings);
    await driver.poll();
    expect(driver.numbers).toEqual(upTo(5));
    expect(requests).toHaveLength(3);
  }
});

test('reads one page without the path of a cursor', async () => {
  const { driver, requests } = await read({ query, location: '$.data.items.edges', variables: [size] });
  await driver.poll();
  expect(driver.delivered).toEqual(all.slice(0, 2).map((node) => ({ node })));
  expect(requests).toHaveLength(1);
});

test('sends variables as the types that the query declares', async () => {
  const variables = [
    { name: 'size', value: '9' },
    { name: 'even', value: 'true' },
    { name: 'ids', value: '["i1", "i2", "i4"]' },
    { name: 'name', value: '7' },
  ];
  const { driver } = await read({ query, location: 'data.items.edges[*].node', variables });
  await driver.poll();
  expect(driver.numbers).toEqual([2, 4]);
});

test('delivers an object as one record, and the whole response without a location', async () => {
  const one = await read({ query: '{ first { id } }', location: 'data.first' });
  await one.driver.poll();
  expect(one.driver.delivered).toEqual([{ id: 'i0' }]);
  const whole = await read({ query: '{ first { id } }' });
  await whole.driver.poll();
  expect(whole.driver.delivered).toEqual([{ data: { first: { id: 'i0' } } }]);
});

test('reports errors of the query, and a location that is not in the response', async () => {
  const wrong = await read({ query: '{ nothing }', location: 'data.nothing' });
  expect(await wrong.driver.fails()).toMatchObject({ kind: 'retry' });
  const missing = await read({ query: '{ none { id } }', location: 'data.none' });
  expect(await missing.driver.fails()).toMatchObject({ code: 'unexpected_answer' });
});
