import { expect, test } from 'vitest';
import { get, outcome, startHost } from '../../../../test/support/start-host.js';
import type { Answer, Seen } from '../../../../test/support/upstream.js';

const count = 43;
const row = (i: number) => ({ id: `c-${i}`, type: 'http', name: `Row ${i}`, config: {} });

/** A list that gives at most `clamp` rows at a time. */
function pages(clamp: number, withTotal: boolean) {
  return ({ query }: Seen): Answer => {
    const offset = Number(query.get('offset'));
    const limit = Math.min(clamp, Number(query.get('limit')));
    const inputs = Array.from({ length: count }, (_, i) => row(i)).slice(offset, offset + limit);
    return { body: withTotal ? { inputs, pagination: { limit, offset, total: count } } : { inputs } };
  };
}

/** Reads acme's inputs where the service answers `answer`. */
async function read(answer: Answer | ((seen: Seen) => Answer)) {
  const hosts = await startHost({ 'GET /v1/org-acme/inputs': answer });
  try {
    const response = await hosts.create()(get('/api/connectors?kind=input&tenantId=acme'));
    const rows: unknown = await response.clone().json();
    return { response, rows, requests: hosts.seen.length };
  } finally {
    await hosts.close();
  }
}

test.each([
  ['a service that returns 10 rows per page', 10, true, 5],
  ['a service that returns 7 rows per page and no total', 7, false, 8],
  ['a service that returns all rows at once', 1_000, true, 1],
])('reads all pages of %s', async (_, clamp, withTotal, requests) => {
  const result = await read(pages(clamp, withTotal));
  expect(result.rows).toHaveLength(count);
  expect(result.rows).toContainEqual({ id: 'c-42', type_id: 'http', name: 'Row 42', description: '' });
  expect(result.requests).toBe(requests);
  expect(result.response.headers.get('cache-control')).toBe('no-store');
});

test('stops paging and returns each row once when the service ignores the offset', async () => {
  expect(await read({ body: { inputs: [row(1)] } })).toMatchObject({ rows: [{ id: 'c-1' }], requests: 2 });
});

test('says which connectors need their account again, and nothing else about it', async () => {
  const ended = { ...row(1), needs_reauth: true, config: { secrets: { token: { account: { name: 'octocat' } } } } };
  const { rows } = await read({ body: { inputs: [ended] } });
  expect(rows).toEqual([{ id: 'c-1', type_id: 'http', name: 'Row 1', description: '', needs_reauth: true }]);
});

test('returns 502 for a list of an unknown shape', async () => {
  const { response } = await read({ body: { rows: [] } });
  expect(await outcome(Promise.resolve(response))).toEqual([502, 'upstream_error']);
});

test('reads enrichments where the third version of the public API has them', async () => {
  const hosts = await startHost({
    'GET /v3/org-acme/enrichments': { body: { enrichments: [{ id: 'e-1', type: 'geoip', name: 'Places' }] } },
  });
  try {
    const rows = await (await hosts.create()(get('/api/connectors?kind=enrichment&tenantId=acme'))).json();
    expect(rows).toEqual([{ id: 'e-1', type_id: 'geoip', name: 'Places', description: '' }]);
  } finally {
    await hosts.close();
  }
});
