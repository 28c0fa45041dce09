import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request as send } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeForm } from '../../../../test/support/form-assets.js';
import { freePort } from '../../../../test/support/free-port.js';
import { codeOf } from '../../../../test/support/guides.js';
import { API_KEY, operatorsEnvironment } from '../../../../test/support/operator.js';
import { startRsyslog } from '../../../../test/support/rsyslog.js';
import { exportedProtobuf } from '../../../../test/support/otlp-export.js';
import type { PipelineStateResponse } from '../pipelines/state-body.js';
import { createServer, type RunningServer } from '../server.js';

const run = promisify(execFile);
let folder: string;
let form: Awaited<ReturnType<typeof writeForm>>;
let server: RunningServer;
let organization: string;
let ports: [number, number];

async function call<Answer = unknown>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${server.url}${path.replace('~', organization)}`, {
    method,
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
}

interface Pushed {
  id: string;
  pipeline: string;
  ingest: { url: string; token: string; host: string; port: number };
}

/** Creates an input that receives records, with a pipeline to dev-null. */
async function build(type: string): Promise<Pushed> {
  const { id, ingest } = await call<Omit<Pushed, 'pipeline'>>('POST', '/v2/~/inputs', {
    name: type,
    type,
    config: { settings: {}, secrets: {} },
  });
  const made = await call<{ pipeline_id: string }>('POST', '/v2/~/integrations', { input_id: id, name: type });
  return { id, ingest, pipeline: made.pipeline_id };
}

const counts = async ({ pipeline }: Pushed) => {
  const { ingress, egress, status } = await call<PipelineStateResponse>('GET', `/v2/~/pipelines/${pipeline}/status`);
  return { in: ingress.records, out: egress.records, status };
};
const counted = (input: Pushed, records: number) =>
  expect.poll(() => counts(input)).toEqual({ in: records, out: records, status: 'Running' });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sending-'));
  form = await writeForm();
  const port = await freePort(2);
  ports = [port, port + 1];
  const environment = {
    ...operatorsEnvironment(folder, form.folder),
    SERVICE_PORT: '0',
    SYSLOG_PORTS: ports.join('-'),
    // Ingest requests are exempt from this limit of three requests per minute and address; the
    // tests send thousands of records.
    RATE_LIMIT_ADDRESS: '3/60',
  };
  server = await createServer(environment, { log: pino({ level: 'silent' }) });
  organization = (await call<{ organization_id: string }>('GET', '/v3/api-keys/current')).organization_id;
});
afterAll(async () => {
  await server.close();
  await form.remove();
  await rm(folder, { recursive: true, force: true });
});

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `${JSON.stringify({ n: from + n })}\n`).join('');

describe('monad-http', () => {
  it('counts a thousand records sent as NDJSON, gzip, JSON array and chunks', async () => {
    const input = await build('monad-http');
    const { url, token } = input.ingest;
    expect(url).toBe(`${server.url}/ingest/${input.id}`);
    const authorization = `Bearer ${token}`;
    const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', headers: { authorization, ...headers }, body });
    const answers = [
      await post(lines(0, 400)),
      await post(gzipSync(lines(400, 700)), { 'content-encoding': 'gzip' }),
      await post(`[${lines(700, 800).trim().replaceAll('\n', ',')}]`),
      // A repetition with the same key is dropped.
      await post(lines(800, 900), { 'idempotency-key': 'k' }),
      await post(lines(800, 900), { 'idempotency-key': 'k' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const slow = send(url, { method: 'POST', headers: { authorization } });
    const answered = new Promise<number | undefined>((resolve) =>
      slow.once('response', ({ statusCode }) => resolve(statusCode)),
    );
    for (const part of lines(900, 1_000).match(/[^]{1,150}/g) ?? []) {
      slow.write(part);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    slow.end();
    expect(await answered).toBe(200);
    // Nothing is stored, because one line is invalid.
    expect((await post(`${lines(0, 50)}broken\n`)).status).toBe(400);
    await counted(input, 1_000);
  });

  it('responds with 409 and a hint if no pipeline uses the connector', async () => {
    const { ingest } = await call<Pick<Pushed, 'ingest'>>('POST', '/v2/~/inputs', {
      name: 'x',
      type: 'monad-http',
      config: { settings: {}, secrets: {} },
    });
    const answer = await fetch(ingest.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${ingest.token}` },
      body: '{}',
    });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({
      error_type: 'no_pipeline',
      error: expect.stringContaining('Build a pipeline'),
    });
  });

  it('accepts the records that the commands of the guide send', async () => {
    const input = await build('monad-http');
    const here = await mkdtemp(join(tmpdir(), 'guide-'));
    onTestFinished(() => rm(here, { recursive: true, force: true }));
    await writeFile(join(here, 'events.ndjson'), lines(0, 500));
    const environment = {
      PATH: process.env['PATH'] ?? '',
      URL: input.ingest.url,
      TOKEN: input.ingest.token,
      SERVICE: server.url,
      ORGANIZATION: organization,
      INPUT: input.id,
      API_KEY,
    };
    const shell = async (file: string) =>
      (await run('sh', ['-c', await codeOf('sending-records', file)], { cwd: here, env: environment })).stdout;
    expect(JSON.parse(await shell('address.sh'))).toMatchObject({ ingest: { token: input.ingest.token } });
    expect(await shell('send.sh')).toBe('{"accepted":1}');
    expect(await shell('send-file.sh')).toBe('{"accepted":500}');
    await counted(input, 501);
  });
});

it('monad-otel counts the exported records', async () => {
  const input = await build('monad-otel');
  const headers = { authorization: `Bearer ${input.ingest.token}`, 'content-type': 'application/x-protobuf' };
  const answer = await fetch(input.ingest.url, { method: 'POST', headers, body: Uint8Array.from(exportedProtobuf) });
  expect(answer.status).toBe(200);
  await counted(input, 2);
});

describe('monad-syslog', () => {
  it('has its own port and a certificate that senders can verify', async () => {
    const input = await build('monad-syslog');
    const { host, port, token, url } = input.ingest;
    expect([host, ports.includes(port), token, url]).toEqual([
      'localhost',
      true,
      undefined,
      `syslog://localhost:${port}`,
    ]);
    await expect.poll(async () => (await counts(input)).status).toBe('Running');
    connectTcp(port, '127.0.0.1').end('<13>1 - - - - - - plain\n');
    await counted(input, 1);

    const ca = await readFile(join(folder, 'engine', 'syslog-certificate.pem'), 'utf8');
    expect((await stat(join(folder, 'engine', 'syslog.pem'))).mode & 0o777).toBe(0o600);
    const certificate = new X509Certificate(ca);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect([certificate.checkHost('localhost'), certificate.checkIP('127.0.0.1')]).toEqual(['localhost', '127.0.0.1']);
    const socket = connectTls({ port, host: 'localhost', ca });
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    socket.end('<13>1 - - - - - - over TLS\n');
    await counted(input, 2);

    // Checks the certificate with OpenSSL and GnuTLS, using the guide's own lines for rsyslog.
    const guide = await codeOf('sending-records', 'rsyslog.conf');
    const actions = guide
      .replaceAll('logs.example.com', 'localhost')
      .replace('port="6514"', `port="${port}"`)
      .replace('/etc/rsyslog.d/syslog-certificate.pem', 'FOLDER/ca.pem');
    const messages = Array.from({ length: 300 }, (_, n) => `message ${n}`);
    for (const [index, driver] of ['ossl', 'gtls'].entries()) {
      const rsyslog = await startRsyslog(messages, actions.replace('"ossl"', `"${driver}"`), { 'ca.pem': ca });
      onTestFinished(() => rsyslog.stop());
      await expect.poll(async () => (await counts(input)).out).toBeGreaterThanOrEqual(2 + 300 * (index + 1));
      expect(rsyslog.output()).not.toMatch(/tls|certificate|peer/i);
    }
  });

  it('returns no_port if all ports are in use, and reuses a released port', async () => {
    const other = await build('monad-syslog');
    const refused = await call('POST', '/v2/~/inputs', {
      name: 'x',
      type: 'monad-syslog',
      config: { settings: {}, secrets: {} },
    });
    expect(refused).toMatchObject({ code: 409, error_type: 'no_port', error: expect.stringContaining('SYSLOG_PORTS') });
    const { inputs } = await call<{ inputs: Pick<Pushed, 'ingest'>[] }>('GET', '/v1/~/inputs?limit=100');
    expect(inputs.map(({ ingest }) => ingest.port)).toContain(other.ingest.port);
    await call('DELETE', `/v2/~/pipelines/${other.pipeline}`).catch(() => undefined);
    await call('DELETE', `/v1/~/inputs/${other.id}`);
    const again = await build('monad-syslog');
    expect(again.ingest.port).toBe(other.ingest.port);
    await expect.poll(async () => (await counts(again)).status).toBe('Running');
    connectTcp(again.ingest.port, '127.0.0.1').end('<13>1 - - - - - - again\n');
    await counted(again, 1);
  });
});
