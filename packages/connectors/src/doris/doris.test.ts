/** Two HTTP servers that answer as Doris documents for Stream Load: a frontend and a backend. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { attempt, outputContext } from '../../../../test/support/output-attempt.js';
import { runTester } from '../../../../test/support/run-tester.js';
import { createBatch } from '@connector-frame/engine/connector-api';
import { dorisOutput } from './index.js';
import { backendUrl } from './output.js';

const PASSWORD = 'canary-doris-password';

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

async function listen(answer: (seen: Seen, response: ServerResponse) => void): Promise<{ port: number; seen: Seen[] }> {
  const seen: Seen[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const each = { method: request.method, url: request.url, headers: request.headers, body };
      seen.push(each);
      answer(each, response);
    });
  };
  const server: Server = createServer(handle);
  server.on('checkContinue', handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: Number(Object(server.address()).port), seen };
}

/** A frontend refuses loads without this header, and repeats the credentials in the address. */
const frontend = (target: () => string) =>
  listen(({ headers, url }, response) => {
    if (headers.expect === undefined) response.end('{"status":"FAILED","msg":"There is no 100-continue header"}');
    else response.writeHead(307, { location: `http://root:${PASSWORD}@${target()}${url}?` }).end();
  });

const success = '{"TxnId":1003,"Label":"l","Status":"Success","Message":"OK","NumberTotalRows":2,"NumberLoadedRows":2}';

function open(port: number, settings: object = {}) {
  const output = dorisOutput.createOutput?.(
    {
      settings: {
        endpoints: [`http://localhost:${port}`],
        database: 'security',
        table: 'events',
        auth: { strategy: 'basic', basic: { user: 'root' } },
        headers: { max_filter_ratio: '0', label: 'mine' },
        ...settings,
      },
      secrets: { password: PASSWORD },
    },
    outputContext('output:apache-doris'),
  );
  if (!output) throw new Error('no output');
  return output;
}

const batch = createBatch('b', ['{"n":1}', '{"n":2}']);

test('asks the frontend, and loads at the backend under the label of the batch', async () => {
  const backend = await listen((_seen, response) => response.end(success));
  const { port, seen } = await frontend(() => `localhost:${backend.port}`);
  expect(await attempt(open(port), batch)).toMatchObject({ written: [1, 2], rejected: [] });
  expect(seen).toMatchObject([{ method: 'PUT', url: '/api/security/events/_stream_load', body: '' }]);
  expect(backend.seen).toMatchObject([
    {
      method: 'PUT',
      body: '{"n":1}\n{"n":2}\n',
      headers: {
        authorization: `Basic ${Buffer.from(`root:${PASSWORD}`).toString('base64')}`,
        label: 'connector_frame_b',
        format: 'json',
        read_json_by_line: 'true',
        max_filter_ratio: '0',
      },
    },
  ]);
});

test('sends neither records nor the password to another host, unless the settings list it', async () => {
  const other = await listen((_seen, response) => response.end(success));
  const { port } = await frontend(() => `127.0.0.1:${other.port}`);
  const found = await attempt(open(port), batch);
  expect(found).toMatchObject({ failure: { code: 'redirected', kind: 'permanent' } });
  expect(JSON.stringify(found)).not.toContain(PASSWORD);
  expect(other.seen).toEqual([]);
  expect(await attempt(open(port, { backends: ['127.0.0.1'] }), batch)).toMatchObject({ written: [1, 2] });
});

test('follows no second redirect, and none to HTTP', async () => {
  const other = await listen((_seen, response) => response.end(success));
  const backend = await listen((_seen, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end(),
  );
  const { port } = await frontend(() => `localhost:${backend.port}`);
  expect((await attempt(open(port), batch)).failure).toBeDefined();
  expect(other.seen).toEqual([]);
  const from = new URL('https://fe.acme.com:8030/api');
  const hosts = new Set(['fe.acme.com']);
  expect(() => backendUrl({ hosts }, from, 307, 'http://fe.acme.com:8040/api')).toThrow(/HTTPS to HTTP/);
  expect(() => backendUrl({ hosts }, from, 307, 'https://fe.acme.com.evil.example/api')).toThrow(/another host/);
  expect(() => backendUrl({ hosts }, from, 307, 'https://fe.acme.com@evil.example/api')).toThrow(/another host/);
});

test.each([
  ['{"Status":"Publish Timeout"}', { written: [1, 2], rejected: [] }],
  ['{"Status":"Label Already Exists","ExistingJobStatus":"FINISHED"}', { written: [1, 2], rejected: [] }],
  ['{"Status":"Label Already Exists","ExistingJobStatus":"RUNNING"}', { failure: { code: 'conflict', kind: 'retry' } }],
  ['{"Status":"Fail","Message":"[DATA_QUALITY_ERROR]too many filtered rows"}', { rejected: [{ n: 1 }, { n: 2 }] }],
  ['{"Status":"Fail","Message":"unknown table, tableName=events"}', { failure: { code: 'not_found' } }],
  ['<html>', { failure: { code: 'unexpected_answer' } }],
])('understands %s', async (body, expected) => {
  const backend = await listen((_seen, response) => response.end(body));
  const { port } = await frontend(() => `localhost:${backend.port}`);
  expect(await attempt(open(port), batch)).toMatchObject(expected);
});

test('tests the connection without loading', async () => {
  const { port, seen } = await listen(({ url }, response) =>
    response.end(
      url?.endsWith('/events/_schema') ? '{"msg":"success","code":0,"data":{}}' : '{"msg":"Bad","code":403}',
    ),
  );
  const settings = { endpoints: [`http://localhost:${port}`], database: 'security', table: 'events' };
  const run = (table: string) =>
    dorisOutput.testConnection &&
    runTester(dorisOutput.testConnection, { settings: { ...settings, table }, secrets: {} });
  expect(await run('events')).toMatchObject({ ok: true });
  expect(await run('absent')).toMatchObject({ reason: 'not_found' });
  expect(seen.every(({ method }) => method === 'GET')).toBe(true);
});
