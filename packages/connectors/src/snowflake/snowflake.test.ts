/** Against the requests and responses in Snowflake's documentation of the SQL API. */
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { undeclaredFields } from '../../../../test/support/declared-fields.js';
import { attempt, hurriedClock, outputContext } from '../../../../test/support/output-attempt.js';
import { Reader } from '../../../../test/support/postgresql-reading.js';
import { createBatch, type Egress, type EgressInit, type TesterConfig } from '@connector-frame/engine/connector-api';
import { snowflakeInput, snowflakeOutput } from './index.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const base = {
  account: 'acme-prod_eu',
  user: 'log_service',
  role: 'LOG_ROLE',
  warehouse: 'COMPUTE_WH',
  database: 'SECURITY',
  schema: 'PUBLIC',
  auth_type: 'private key',
};

interface Asked {
  method: string;
  url: URL;
  authorization: string;
  body: { statement: string; bindings: Record<string, { type: string; value: string }> } | undefined;
}

/** Answers statements like the SQL API. */
function api(answer: (asked: Asked) => Response): { egress: Egress; asked: Asked[] } {
  const asked: Asked[] = [];
  const egress: Egress = {
    connect: () => Promise.reject(new Error('not used')),
    fetch: async (url, init: EgressInit = {}) => {
      const body: Asked['body'] = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
      const authorization = new Headers(init.headers).get('authorization') ?? '';
      const request = { method: init.method ?? 'GET', url: new URL(url), authorization, body };
      asked.push(request);
      return answer(request);
    },
  };
  return { egress, asked };
}

const json = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });
const result = (data: unknown[], parts = 1, handle = '01b2-example'): object => ({
  resultSetMetaData: { numRows: data.length, partitionInfo: Array.from({ length: parts }, () => ({ rowCount: 1 })) },
  code: '090001',
  statementHandle: handle,
  data,
});
const columns = result([
  ['USER_NAME', 'TEXT', null, null],
  ['N', 'NUMBER', '38', '2'],
  ['_RECORD', 'VARIANT', null, null],
]);

function write(egress: Egress, settings: object = {}) {
  const config = { settings: { ...base, table: 'EVENTS', ...settings }, secrets: { private_key: pem } };
  const output = snowflakeOutput.createOutput?.(config, outputContext('output:snowflake', egress));
  if (!output) throw new Error('no output');
  return attempt(output, createBatch('b', [`{"USER_NAME":"it's","N":12345678901234567890.5}`, '{"other":1}']));
}

test('signs in with a JWT that names the fingerprint of the public key', async () => {
  const { egress, asked } = api(({ body }) => json(body?.statement.startsWith('SELECT') ? columns : result([])));
  expect(await write(egress)).toMatchObject({ rejected: [] });
  const [first] = asked;
  expect(first?.url.origin).toBe('https://acme-prod-eu.snowflakecomputing.com');
  const { payload } = await jwtVerify(first?.authorization.slice('Bearer '.length) ?? '', publicKey, {
    currentDate: new Date(hurriedClock().now()),
  });
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  const fingerprint = createHash('sha256').update(der).digest('base64');
  expect(payload.sub).toBe('ACME-PROD_EU.LOG_SERVICE');
  expect(payload.iss).toBe(`ACME-PROD_EU.LOG_SERVICE.SHA256:${fingerprint}`);
});

test('inserts the records of a batch as one value, under the same ID in a retry', async () => {
  const { egress, asked } = api(({ body }) => json(body?.statement.startsWith('SELECT') ? columns : result([])));
  await write(egress);
  await write(egress);
  const inserts = asked.filter(({ body }) => body?.statement.startsWith('INSERT'));
  expect(inserts).toHaveLength(4);
  const [first, second, third] = inserts;
  expect(first?.body?.statement.replaceAll(/\s+/g, ' ')).toBe(
    `INSERT INTO SECURITY.PUBLIC.EVENTS ("USER_NAME", "N", "_RECORD") SELECT GET(f.value:record, 'USER_NAME')::VARCHAR, ` +
      `GET(f.value:record, 'N')::NUMBER(38, 2), f.value:record FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?))) f ORDER BY f.index`,
  );
  expect(first?.body?.bindings).toEqual({
    1: { type: 'TEXT', value: `[{"id":"b.0","record":{"USER_NAME":"it's","N":12345678901234567890.5}}]` },
  });
  expect(first?.url.searchParams.get('requestId')).toMatch(
    /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/,
  );
  expect(first?.url.search).toBe(third?.url.search);
  expect(first?.url.search).not.toBe(second?.url.search);
});

test.each([
  [
    422,
    { code: '100038', sqlState: '22018', message: 'secret' },
    { rejected: [{ reason: 'invalid_value' }, { reason: 'invalid_value' }] },
  ],
  [
    422,
    { code: '002003', sqlState: '02000', message: 'secret' },
    { failure: { code: 'not_found', kind: 'permanent' } },
  ],
  [401, { code: '390144', message: 'secret' }, { failure: { code: 'invalid_credentials', kind: 'permanent' } }],
  [429, {}, { failure: { kind: 'throttled' } }],
  [503, {}, { failure: { kind: 'retry' } }],
])('explains HTTP %i with %o', async (status, body, expected) => {
  const { egress } = api((asked) => (asked.body?.statement.startsWith('SELECT') ? json(columns) : json(body, status)));
  const found = await write(egress);
  expect(found).toMatchObject(expected);
  expect(JSON.stringify(found)).not.toContain('secret');
});

const row = (n: number, time: string) => [`{"N":${n},"BIG":12345678901234567890}`, time];

test('reads the parts of a result, waits for it, and continues after the last time', async () => {
  const late: (string | undefined)[][] = [];
  const { egress, asked } = api(({ method, url, body }) => {
    if (url.searchParams.get('partition') === '1') {
      const part = gzipSync(JSON.stringify({ data: [row(2, '2000')] }));
      return new Response(new Uint8Array(part), { headers: { 'content-encoding': 'gzip' } });
    }
    if (method === 'POST' && body?.bindings[1] === undefined)
      return json({ code: '333334', statementHandle: 'h/1' }, 202);
    return json(method === 'GET' ? result([row(1, '1000'), row(1, '1000'), ...late], 2, 'h/1') : result([]));
  });
  const clock = hurriedClock();
  const settings = { ...base, table: 'my table', timestamp_column: 'EVENT_TIME', cron: '0 * * * *' };
  const config = { settings, secrets: { private_key: pem } };
  const input = snowflakeInput.createInput?.(config, { ...outputContext('input:snowflake', egress), clock });
  if (input?.kind !== 'pages') throw new Error('no input');
  const reader = new Reader(input);
  expect((await reader.pass()).map(({ N }) => N)).toEqual([1, 1, 2]);
  expect(reader.records[0]).toEqual({ N: 1, BIG: '12345678901234567890' });
  // Not due yet.
  expect(await reader.pass()).toEqual([]);
  await clock.sleep(3_600_000);
  late.push(row(3, '1500'));
  // Only the late row is new.
  expect((await reader.pass()).map(({ N }) => N)).toEqual([3]);
  expect(asked.map(({ url }) => url.pathname)).toContain('/api/v2/statements/h%2F1');
  expect(asked[0]?.body?.statement).toContain(
    'FROM SECURITY.PUBLIC."my table" AS source WHERE EVENT_TIME IS NOT NULL ORDER BY EVENT_TIME',
  );
});

test.each([
  ['a public key', publicKey.export({ type: 'spki', format: 'pem' }).toString(), /public key/],
  [
    'an encrypted key',
    privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString(),
    /encrypted/,
  ],
  ['no key', 'hello', /not an RSA private key/],
])('refuses %s before anything is sent', async (_name, key, message) => {
  const { egress, asked } = api(() => json({}));
  const config: TesterConfig = { settings: { ...base, table: 'EVENTS' }, secrets: { private_key: key } };
  const outcome = await snowflakeOutput.testConnection?.(config, { egress, signal: new AbortController().signal });
  expect(outcome).toMatchObject({ reason: 'invalid_config', issues: [{ path: '/secrets/private_key' }] });
  expect(outcome && 'message' in outcome && outcome.message).toMatch(message);
  expect(outcome && undeclaredFields('output:snowflake', outcome)).toEqual([]);
  expect(asked).toEqual([]);
});
