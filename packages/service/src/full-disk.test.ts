import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { postgresql } from '../../../test/support/databases.js';
import { writeForm } from '../../../test/support/form-assets.js';
import { freePort } from '../../../test/support/free-port.js';
import { API_KEY, operatorsEnvironment } from '../../../test/support/operator.js';
import { serve } from '../../../test/support/serve.js';
import { connectClient, type ServiceClient } from '../../../test/support/service-client.js';
import { buildService, mainFile, mustStart, type ServiceProcess } from '../../../test/support/service-process.js';
import { canMount, mountSmallDisk, type SmallDisk } from '../../../test/support/small-disk.js';
import { long } from '../../../test/support/long.js';

const MIB = 1024 * 1024;
const TEXT = 'x'.repeat(1_000);

/** A destination that responds 503 until it is up, and keeps the records by their number. */
async function startDestination() {
  const got = new Set<number>();
  const state = { up: false };
  const site = await serve((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (!state.up) response.statusCode = 503;
      else for (const { n } of JSON.parse(body)) got.add(n);
      response.end();
    });
  });
  return { ...site, got, state };
}

/** Sends a message over a TCP connection that stays open until the test ends. */
function sendSyslog(port: number, message: string): Promise<'sent' | 'failed'> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve) => {
    socket.on('error', () => resolve('failed'));
    socket.write(message, () => resolve('sent'));
  });
}

async function newDisk(): Promise<SmallDisk> {
  const disk = await mountSmallDisk(24 * MIB);
  onTestFinished(() => disk.close());
  return disk;
}

async function start(disk: SmallDisk, environment: Record<string, string>): Promise<ServiceProcess> {
  const service = await mustStart(environment, [...disk.command, process.execPath, mainFile()]);
  onTestFinished(() => service.kill('SIGKILL'));
  return service;
}

const readiness = async ({ url }: ServiceProcess) => {
  const response = await fetch(`${url}/readyz`);
  return [response.status, await response.json()];
};

/** Sends records with these numbers as a customer's machine does. */
async function send(
  client: ServiceClient,
  service: ServiceProcess,
  input: string,
  numbers: readonly number[],
  text = TEXT,
) {
  const { url, token } = await client.ingestOf(input);
  const response = await fetch(service.url + new URL(url).pathname, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: numbers.map((n) => JSON.stringify({ n, text })).join('\n'),
  });
  const content = await response.text();
  const body = content === '' ? {} : JSON.parse(content);
  return { status: response.status, retryAfter: response.headers.get('retry-after'), type: body.error_type };
}

async function sendOtlp(client: ServiceClient, service: ServiceProcess, input: string) {
  const { url, token } = await client.ingestOf(input);
  const record = { body: { stringValue: 'text' }, timeUnixNano: '1' };
  const response = await fetch(service.url + new URL(url).pathname, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }),
  });
  await response.text();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

const build = async (client: ServiceClient, input: string, origin: string): Promise<string> => {
  const settings = { endpoint: `${origin}/records`, method: 'POST', payload_structure: 'array' };
  return (await client.build(input, { type: 'http', config: { settings } })).pipeline_id;
};

/** The service in a process of its own whose `DATA_DIR` is on a small file system. */
describe.runIf(canMount)('the service on a full disk (tmpfs), with PostgreSQL elsewhere', () => {
  const databases = postgresql();
  let form: Awaited<ReturnType<typeof writeForm>>;
  beforeAll(async () => {
    buildService();
    form = await writeForm();
  });
  afterAll(async () => {
    await form.remove();
    await databases.close();
  });

  async function newEnvironment(disk: SmallDisk, more: Record<string, string>): Promise<Record<string, string>> {
    return {
      ...operatorsEnvironment(join(disk.path, 'data'), form.folder),
      DATABASE_URL: await databases.url(),
      MASTER_KEY: randomBytes(32).toString('base64url'),
      EGRESS_ALLOW: '127.0.0.1/32',
      ...more,
    };
  }

  it('rejects records with 503, starts again after a kill, delivers what is stored, and recovers', async () => {
    const disk = await newDisk();
    const destination = await startDestination();
    onTestFinished(() => destination.close());
    const port = await freePort();
    const environment = await newEnvironment(disk, { MIN_FREE_BYTES: '0', SYSLOG_PORTS: String(port) });
    let service = await start(disk, environment);
    let client = await connectClient(service, API_KEY);
    const [http, otlp] = [await client.make('inputs', 'monad-http'), await client.make('inputs', 'monad-otel')];
    const syslog = await client.make('inputs', 'monad-syslog');
    const pipeline = await build(client, http, destination.origin);
    await build(client, otlp, destination.origin);
    const logs = await client.build(syslog);
    await expect.poll(() => client.status(logs.pipeline_id)).toMatchObject({ status: 'Running' });
    const stored: number[] = [];
    const post = async (count: number) => {
      const numbers = Array.from({ length: count }, (_, n) => stored.length + n);
      const response = await send(client, service, http, numbers);
      if (response.status === 200) stored.push(...numbers);
      return response;
    };
    expect((await post(2_000)).status).toBe(200);
    expect(await readiness(service)).toMatchObject([200, { status: 'ok', checks: { disk: 'ok' } }]);

    await disk.fill();
    const refused = { status: 503, retryAfter: '10' };
    await expect.poll(() => post(500)).toEqual({ ...refused, type: 'unavailable' });
    expect(await sendOtlp(client, service, otlp)).toEqual(refused);
    // A record that is too large goes to the dead letters, which need space, too.
    expect(await send(client, service, http, [-1], 'x'.repeat(600_000))).toEqual({ ...refused, type: 'unavailable' });
    const degraded = [
      200,
      { status: 'degraded', checks: { database: 'ok', disk: expect.stringContaining('0 MiB free') } },
    ];
    await expect.poll(() => readiness(service)).toMatchObject(degraded);
    await expect.poll(() => client.status(pipeline)).toMatchObject({ waiting: stored.length });
    service.kill('SIGKILL');
    await service.exited;
    await disk.fill();
    service = await start(disk, environment);
    client = await connectClient(service, API_KEY);
    await disk.fill();
    await expect.poll(() => readiness(service)).toMatchObject(degraded);
    expect(await post(500)).toEqual({ ...refused, type: 'unavailable' });
    await expect.poll(() => client.status(pipeline)).toMatchObject({ waiting: stored.length });
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);

    service = await start(disk, environment);
    client = await connectClient(service, API_KEY);
    await expect.poll(() => sendSyslog(port, '<13>1 - host app - - - kept\n')).toBe('sent');
    destination.state.up = true;
    await expect.poll(() => destination.got.size, { timeout: 60_000 }).toBe(stored.length);
    expect([...destination.got].sort((a, b) => a - b)).toEqual(stored);

    await disk.free();
    await expect.poll(() => readiness(service)).toMatchObject([200, { status: 'ok', checks: { disk: 'ok' } }]);
    await expect.poll(async () => (await post(500)).status).toBe(200);
    expect((await sendOtlp(client, service, otlp)).status).toBe(200);
    await expect.poll(() => destination.got.size).toBe(stored.length);
    await expect.poll(() => client.status(logs.pipeline_id)).toMatchObject({ ingress: { records: 1 } });
    expect((await client.status(pipeline)).lost).toBeNull();
  }, 240_000);

  it.runIf(long)(
    'stops accepting records while there is MIN_FREE_BYTES left for the database',
    async () => {
      const disk = await newDisk();
      const destination = await startDestination();
      onTestFinished(() => destination.close());
      const environment = await newEnvironment(disk, { MIN_FREE_BYTES: String(16 * MIB) });
      const service = await start(disk, environment);
      const client = await connectClient(service, API_KEY);
      const input = await client.make('inputs', 'monad-http');
      const pipeline = await build(client, input, destination.origin);
      let sent = 0;
      const post = () =>
        send(
          client,
          service,
          input,
          Array.from({ length: 500 }, () => sent++),
        );
      for (;;) {
        const response = await post();
        if (response.status === 200) continue;
        expect(response).toEqual({ status: 503, retryAfter: '10', type: 'unavailable' });
        break;
      }
      expect(sent).toBeGreaterThan(5_000);
      expect(sent).toBeLessThan(9_500);
      await expect
        .poll(() => readiness(service))
        .toMatchObject([
          200,
          { status: 'degraded', checks: { disk: expect.stringContaining('MIN_FREE_BYTES is 16 MiB') } },
        ]);
      expect(await client.status(pipeline)).toMatchObject({ waiting: sent - 500 });
      destination.state.up = true;
      await expect.poll(() => readiness(service), { timeout: 60_000 }).toMatchObject([200, { status: 'ok' }]);
      await expect.poll(async () => (await post()).status).toBe(200);
    },
    120_000,
  );
});
