import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { startRedis, type RedisServer } from '../../../../test/support/brokers/redis.js';
import { collectingSink } from '../../../../test/support/collecting-sink.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { freePort } from '../../../../test/support/free-port.js';
import { createEgress } from '@connector-frame/engine/egress';
import {
  createBatch,
  type DataRecord,
  type JsonValue,
  type Page,
  systemClock,
} from '@connector-frame/engine/connector-api';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisInput, redisOutput } from './index.js';

// Against a real Redis server of Debian, filled and read with its own client, `redis-cli`.

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis('--requirepass', 'canary-password');
});
afterAll(() => server?.close());

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const cli = (...args: string[]) => server.cli('-a', 'canary-password', ...args);
const secrets = { password: 'canary-password' };
const url = () => `redis://127.0.0.1:${server.port}/0`;
const signal = () => new AbortController().signal;

const inputOf = (settings: object) => {
  const type = typeOf('input:redis');
  const config = { settings: { url: url(), ...settings }, secrets };
  const input = redisInput.createInput?.(config, { type, egress, clock: systemClock });
  if (!input) throw new Error('Redis has no input');
  return input;
};

/** Sends many values with one command of the client. */
const push = (key: string, values: readonly string[]) =>
  new Promise<void>((resolve, reject) => {
    const args = ['-p', String(server.port), '-a', 'canary-password', '--no-auth-warning'];
    const child = execFile('redis-cli', args, (error) => (error ? reject(error) : resolve()));
    child.stdin?.end(values.map((value) => `RPUSH ${key} '${value}'\n`).join(''));
  });

/** Reads pages like the engine, which commits a page before it asks for the next one. */
async function read(
  settings: object,
  cursor: JsonValue | undefined,
  enough: (records: readonly DataRecord[]) => boolean,
): Promise<{ records: DataRecord[]; cursor: JsonValue | undefined; pages: Page[] }> {
  const input = inputOf(settings);
  if (input.kind !== 'pages') throw new Error('A list is read in pages');
  const stop = new AbortController();
  const run = { records: [] as DataRecord[], cursor, pages: [] as Page[] };
  for await (const page of input.pages(cursor, stop.signal)) {
    run.pages.push(page);
    run.records.push(...page.records);
    run.cursor = page.cursor;
    if (enough(run.records)) break;
  }
  stop.abort();
  return run;
}

test('takes the entries of a list in order, and deletes them only after the page is committed', async () => {
  await push(
    'events',
    Array.from({ length: 1_200 }, (_, n) => `{"n":${n},"big":12345678901234567890}`),
  );
  const settings = { key: 'events', redis_key: 'from' };
  // Interrupted within the second page: it is not committed.
  const first = await read(settings, undefined, (records) => records.length > 500);
  expect(first.pages[0]?.records).toEqual([]);
  expect(Number(await cli('LLEN', 'events'))).toBe(200);
  const second = await read(settings, first.pages[1]?.cursor, (records) => records.length >= 700);
  const all = [...(first.pages[1]?.records ?? []), ...second.records];
  expect(all.map(({ n }) => n)).toEqual(Array.from({ length: 1_200 }, (_, n) => n));
  expect(all[7]).toEqual({ n: 7, big: '12345678901234567890', from: 'events' });
});

test('takes from the other end, and keeps what is not JSON', async () => {
  await push('mixed', ['plain text', '[1,2]']);
  const { records } = await read({ key: 'mixed', list: { method: 'rpop' } }, undefined, (all) => all.length === 2);
  expect(records).toEqual([{ message: '[1,2]' }, { message: 'plain text' }]);
});

test('listens to a channel, waits while nothing can be stored, and returns after the server was away', async () => {
  const input = inputOf({ data_type: 'channel', key: 'news', redis_key: 'channel' });
  if (input.kind !== 'push') throw new Error('A channel pushes');
  const sink = collectingSink();
  sink.full = 1;
  await input.start?.(sink);
  onTestFinished(() => input.close?.());
  expect(await cli('PUBLISH', 'news', '{"n":1}')).toBe('1');
  await expect.poll(() => sink.records, { timeout: 20_000 }).toEqual([{ n: 1, channel: 'news' }]);
  await server.restart();
  await expect.poll(() => cli('PUBLISH', 'news', '{"n":2}'), { timeout: 20_000 }).toBe('1');
  await expect.poll(() => sink.records.length).toBe(2);
  expect(sink.notes.filter((code) => /connected/.test(code))).toEqual(['disconnected', 'connected']);
});

test('writes to lists, sorted sets and channels, with names made of fields', async () => {
  const write = async (settings: object, lines: string[]) => {
    const config = { settings: { endpoint: url(), ...settings }, secrets };
    const output = redisOutput.createOutput?.(config, { type: typeOf('output:redis'), egress, clock: systemClock });
    await output?.open?.(signal());
    const result = await output?.write(createBatch('b', lines), signal());
    await output?.close?.();
    return result;
  };
  const lines = ['{"host":"a","at":3}', '{"host":"b","at":1}', '{"at":2}', '{"host":"a","at":9007199254740993}'];
  expect(await write({ key: 'out:{{ host }}' }, lines)).toEqual({ rejected: [{ index: 2, reason: 'missing_field' }] });
  expect(await cli('LRANGE', 'out:a', '0', '-1')).toBe(`${lines[0]}\n${lines[3]}`);
  expect(await cli('LRANGE', 'out:b', '0', '-1')).toBe(lines[1]);
  await write({ key: 'left', list_option: { method: 'lpush' } }, lines.slice(0, 2));
  expect(await cli('LRANGE', 'left', '0', '-1')).toBe(`${lines[1]}\n${lines[0]}`);
  const sorted = { key: 'sorted', data_type: 'sortedset', sorted_set_option: { score: '{{ at }}' } };
  expect(await write(sorted, [...lines.slice(0, 2), '{"at":"soon"}'])).toEqual({
    rejected: [{ index: 2, reason: 'invalid_score' }],
  });
  expect(await cli('ZRANGE', 'sorted', '0', '-1')).toBe(`${lines[1]}\n${lines[0]}`);
  await expect(write({ key: '{{ host }}' }, lines)).rejects.toMatchObject({ code: 'invalid_config' });
  await expect(write({ key: 'sorted' }, lines)).rejects.toMatchObject({ code: 'rejected', kind: 'permanent' });
  await expect(write({ key: 'x', endpoint: `${url()}99` }, lines)).rejects.toMatchObject({ code: 'invalid_config' });
});

test('a connection test signs in and finds out whether the key can be used', async () => {
  await cli('SET', 'text', 'x');
  const outcome = (settings: object, given: Record<string, unknown> = secrets) =>
    redisInput.testConnection?.(
      { settings: { url: url(), ...settings }, secrets: given },
      { egress, signal: signal() },
    );
  expect(await outcome({ key: 'events' })).toEqual({ ok: true, summary: 'Signed in.' });
  expect(await outcome({ key: 'text' })).toMatchObject({ ok: false, reason: 'rejected' });
  expect(await outcome({ key: 'events' }, {})).toMatchObject({ reason: 'invalid_credentials' });
  const wrong = await outcome({ key: 'events', username: 'canary-user' }, { password: 'canary-wrong' });
  expect(wrong).toMatchObject({ reason: 'invalid_credentials' });
  expect(JSON.stringify(wrong)).not.toContain('canary');
  const closed = createEgress({ allow: [] });
  const config = { settings: { url: url(), key: 'k' }, secrets };
  expect(await redisInput.testConnection?.(config, { egress: closed, signal: signal() })).toMatchObject({
    reason: 'egress_refused',
  });
});

test('a certificate that nobody vouches for is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { cert, key } = createCertificate('127.0.0.1');
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  const port = await freePort();
  const files = ['--tls-cert-file', join(folder, 'cert.pem'), '--tls-key-file', join(folder, 'key.pem')];
  const secure = await startRedis('--tls-port', String(port), '--tls-auth-clients', 'no', ...files);
  onTestFinished(() => secure.close());
  const config = { settings: { url: `rediss://127.0.0.1:${port}`, key: 'k' }, secrets: {} };
  // The port for TLS may be opened after the other one.
  const test = () => redisInput.testConnection?.(config, { egress, signal: signal() });
  await expect.poll(test).toMatchObject({ reason: 'tls_failed' });
});
