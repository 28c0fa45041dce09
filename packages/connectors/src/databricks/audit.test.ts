/** Against the requests and responses in Databricks' documentation of statement execution. */
import { expect, test } from 'vitest';
import { hurriedClock, outputContext } from '../../../../test/support/output-attempt.js';
import { Reader } from '../../../../test/support/postgresql-reading.js';
import type { Egress, EgressInit } from '@connector-frame/engine/connector-api';
import { databricksAuditInput } from './index.js';

const row = (n: number) => [`{"event_id":"e${n}","n":12345678901234567890}`, String(n), `e${n}`];

test('waits for the warehouse, reads the chunks of a result, and continues after the last entry', async () => {
  const statements: { parameters: { name: string; value: string }[]; statement: string; warehouse_id: string }[] = [];
  const answers: Record<string, unknown>[] = [
    { statement_id: 's 1', status: { state: 'PENDING' } },
    { statement_id: 's 1', status: { state: 'RUNNING' } },
    { statement_id: 's 1', status: { state: 'SUCCEEDED' }, result: { data_array: [row(1)], next_chunk_index: 1 } },
    { chunk_index: 1, data_array: [row(3)] },
    { statement_id: 's2', status: { state: 'SUCCEEDED' }, result: { data_array: [row(1), row(2), row(3)] } },
  ];
  const paths: string[] = [];
  const egress: Egress = {
    connect: () => Promise.reject(new Error('not used')),
    fetch: async (url, init: EgressInit = {}) => {
      const { pathname } = new URL(url);
      if (pathname === '/oidc/v1/token') return Response.json({ access_token: 'x', expires_in: 3600 });
      paths.push(`${init.method} ${pathname}`);
      if (init.method === 'POST') statements.push(JSON.parse(String(init.body)));
      return Response.json(answers.shift());
    },
  };
  const settings = {
    server_hostname: 'dbc-a1b2.cloud.databricks.com',
    http_path: '/sql/1.0/warehouses/0a1b',
    backfill_start_time: '2026-01-01T00:00:00Z',
  };
  const config = { settings, secrets: { client_id: 'id', client_secret: 'secret' } };
  const context = { ...outputContext('input:databricks-audit-logs', egress), clock: hurriedClock() };
  const input = databricksAuditInput.createInput?.(config, context);
  if (input?.kind !== 'pages') throw new Error('no input');
  const reader = new Reader(input);
  expect(await reader.pass()).toEqual([
    { event_id: 'e1', n: '12345678901234567890' },
    { event_id: 'e3', n: '12345678901234567890' },
  ]);
  // Entry 2 is late.
  expect((await reader.pass()).map((record) => record['event_id'])).toEqual(['e2']);
  expect(paths).toEqual([
    'POST /api/2.0/sql/statements',
    'GET /api/2.0/sql/statements/s%201',
    'GET /api/2.0/sql/statements/s%201',
    'GET /api/2.0/sql/statements/s%201/result/chunks/1',
    'POST /api/2.0/sql/statements',
  ]);
  expect(statements[0]).toMatchObject({
    warehouse_id: '0a1b',
    parameters: [{ name: 'time', value: '1767225600000000' }, {}],
  });
  expect(statements[0]?.statement).toContain('FROM `system`.access.audit');
});
