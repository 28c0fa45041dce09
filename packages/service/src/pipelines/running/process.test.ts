import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { newDataFolder } from '../../../../../test/support/data-folder.js';
import { postgresql } from '../../../../../test/support/databases.js';
import { writeForm } from '../../../../../test/support/form-assets.js';
import { API_KEY, operatorsEnvironment } from '../../../../../test/support/operator.js';
import { connectClient, type ServiceClient } from '../../../../../test/support/service-client.js';
import {
  buildService,
  mustStart,
  startService,
  type ServiceProcess,
} from '../../../../../test/support/service-process.js';

let form: Awaited<ReturnType<typeof writeForm>>;
let environment: Record<string, string>;

async function someFolder(): Promise<string> {
  const folder = await newDataFolder('service');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a service that is killed when the test ends. */
async function start(variables: Record<string, string>): Promise<ServiceProcess> {
  const service = await mustStart(variables);
  onTestFinished(() => service.kill('SIGKILL'));
  return service;
}

beforeAll(async () => {
  buildService();
  form = await writeForm();
});
afterAll(() => form.remove());
beforeEach(async () => {
  environment = operatorsEnvironment(await someFolder(), form.folder);
});

const lines = (count: number, from: number): string =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ n: from + n })).join('\n');

/** Sends records as a customer's machine does. */
async function ingest(client: ServiceClient, input: string, body: string): Promise<number> {
  const { url, token } = await client.ingestOf(input);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

const until = (client: ServiceClient, id: string, wanted: object) =>
  expect.poll(() => client.status(id)).toMatchObject(wanted);

describe('the process', () => {
  it('keeps counts across a restart, and waiting records and key-value tables across a kill (R08)', async () => {
    const first = await start(environment);
    let client = await connectClient(first, API_KEY);
    const demo = await client.build(await client.make('inputs', 'demo'));
    const input = await client.make('inputs', 'monad-http');
    const pushed = await client.build(input);
    expect(await ingest(client, input, lines(1_000, 0))).toBe(200);
    await until(client, pushed.pipeline_id, { status: 'Running', egress: { records: 1_000 } });
    await client.must('PATCH', `/v1/~/pipelines/${pushed.pipeline_id}`, { enabled: false });
    await until(client, pushed.pipeline_id, { status: 'Disabled' });
    expect(await ingest(client, input, lines(500, 1_000))).toBe(200);
    await expect.poll(async () => (await client.status(demo.pipeline_id)).egress.records).toBeGreaterThan(0);
    const before = await client.status(demo.pipeline_id);
    first.kill('SIGTERM');
    expect(await first.exited).toBe(0);

    const second = await start(environment);
    client = await connectClient(second, API_KEY);
    await until(client, demo.pipeline_id, { status: 'Running' });
    const after = await client.status(demo.pipeline_id);
    expect(after.egress.records).toBeGreaterThanOrEqual(before.egress.records);
    await until(client, pushed.pipeline_id, { status: 'Disabled', ingress: { records: 1_500 }, waiting: 500 });
    const users = await client.make('inputs', 'monad-http');
    const output = await client.make('outputs', 'kv-lookup', { key_field: 'n' });
    const filling = await client.build(users, { id: output });
    expect(await ingest(client, users, lines(5_000, 0))).toBe(200);
    await expect.poll(async () => (await client.status(filling.pipeline_id)).egress.records).toBeGreaterThan(0);
    const acknowledged = (await client.status(filling.pipeline_id)).egress.records;
    second.kill('SIGKILL');
    await second.exited;

    const third = await start(environment);
    client = await connectClient(third, API_KEY);
    const address = `/v3/~/kv_lookup/metadata?component_id=${output}`;
    const keys = async () => (await client.must<{ number_of_keys: number }>('GET', address)).number_of_keys;
    expect(await keys()).toBeGreaterThanOrEqual(acknowledged);
    // The rest is delivered, and what is written again is not counted twice.
    await until(client, filling.pipeline_id, { status: 'Running', waiting: 0 });
    expect(await keys()).toBe(5_000);
    await client.must('PATCH', `/v1/~/pipelines/${pushed.pipeline_id}`, { enabled: true });
    await until(client, pushed.pipeline_id, { status: 'Running', egress: { records: 1_500 }, waiting: 0 });
    const metrics = await (await fetch(`${third.url}/metrics`)).text();
    expect(metrics).toMatch(/pipelines\{status="Running"\} 3/);
    expect(metrics).toMatch(/pipeline_records_total\{direction="egress"\} \d/);
    third.kill('SIGTERM');
    expect(await third.exited).toBe(0);
  });

  it('streams pipeline logs, resumes after Last-Event-ID, and ends the stream on SIGTERM', async () => {
    const service = await start(environment);
    const client = await connectClient(service, API_KEY);
    const { pipeline_id: id } = await client.build(await client.make('inputs', 'monad-http'));
    await until(client, id, { status: 'Running' });
    const follow = (headers: Record<string, string> = {}) =>
      fetch(`${service.url}/v2/${client.org}/pipelines/${id}/logs/stream`, {
        headers: { 'x-api-key': API_KEY, ...headers },
      });
    const live = new EventReader(await follow());
    const started = await live.next('started');
    await client.must('PATCH', `/v1/~/pipelines/${id}`, { enabled: false });
    const paused = await live.next('paused');
    expect(paused.data.sequence).toBeGreaterThan(started.data.sequence);

    const again = new EventReader(await follow({ 'last-event-id': started.id }));
    expect((await again.next()).data.code).not.toBe('started');
    // The service releases the stream of a client that disconnects.
    await again.leave();
    const { session_token: session } = await client.must<{ session_token: string }>('POST', '/v3/sessions', {
      organization_id: client.org,
    });
    const denied = await fetch(`${service.url}/v2/${client.org}/pipelines/${id}/logs/stream`, {
      headers: { authorization: `Bearer ${session}` },
    });
    expect(denied.status).toBe(403);

    service.kill('SIGTERM');
    await live.end();
    expect(await service.exited).toBe(0);
  });

  it('keeps pipeline logs over a kill, and resumes a stream after the entry that a client saw last', async () => {
    const first = await start(environment);
    let client = await connectClient(first, API_KEY);
    const { pipeline_id: id } = await client.build(await client.make('inputs', 'monad-http'));
    await until(client, id, { status: 'Running' });
    interface Entries {
      entries: { sequence: number; code: string }[];
    }
    const path = `/v2/~/pipelines/${id}/logs`;
    const before = (await client.must<Entries>('GET', path)).entries;
    expect(before.map(({ code }) => code)).toContain('started');
    // New entries are on disk after a second.
    const file = join(environment['DATA_DIR'] ?? '', 'engine', 'pipeline-logs.ndjson');
    const last = before.at(-1)?.sequence ?? 0;
    await expect.poll(() => readFile(file, 'utf8').catch(() => '')).toContain(`"sequence":${last}`);
    first.kill('SIGKILL');
    await first.exited;

    const second = await start(environment);
    client = await connectClient(second, API_KEY);
    await until(client, id, { status: 'Running' });
    const after = (await client.must<Entries>('GET', path)).entries;
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBeGreaterThan(before.length);
    const stream = new EventReader(
      await fetch(`${second.url}/v2/${client.org}/pipelines/${id}/logs/stream`, {
        headers: { 'x-api-key': API_KEY, 'last-event-id': String(last) },
      }),
    );
    const resumed = await stream.next();
    expect(resumed.data.sequence).toBe(after[before.length]?.sequence);
    expect(resumed.data.sequence).toBeGreaterThan(last);
    await stream.leave();
    second.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  });

  it('runs pipelines in one of several processes on a database; the others report their status', async () => {
    const databases = postgresql();
    const shared = {
      ...environment,
      DATABASE_URL: await databases.url(),
      MASTER_KEY: randomBytes(32).toString('base64url'),
    };
    const engine = await start(shared);
    const sameFolder = await startService(shared);
    expect(sameFolder).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`process ${engine.pid}`) });
    const second = await startService({ ...shared, DATA_DIR: await someFolder() });
    expect(second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ENGINE=off') });

    const other = await start({ ...shared, DATA_DIR: await someFolder(), ENGINE: 'off' });
    const [here, there] = [await connectClient(engine, API_KEY), await connectClient(other, API_KEY)];
    const input = await there.make('inputs', 'monad-http');
    const { pipeline_id: id } = await there.build(input);
    await until(there, id, { status: 'Running' });
    expect(await ingest(here, input, lines(10, 0))).toBe(200);
    await until(there, id, { status: 'Running', ingress: { records: 10 }, egress: { records: 10 } });
    expect(await ingest(there, input, lines(1, 10))).toBe(503);
    await there.must('PATCH', `/v1/~/pipelines/${id}`, { enabled: false });
    await until(here, id, { status: 'Disabled' });
    await until(there, id, { status: 'Disabled' });

    engine.kill('SIGTERM');
    expect(await engine.exited).toBe(0);
    await there.must('PATCH', `/v1/~/pipelines/${id}`, { enabled: true });
    expect(await there.status(id)).toMatchObject({ status: 'Pending', ingress: { records: 10 } });
    // The lease is free immediately, also for a process with another folder.
    const next = await start({ ...shared, DATA_DIR: await someFolder() });
    await until(there, id, { status: 'Running', ingress: { records: 10 } });
    for (const each of [next, other]) each.kill('SIGTERM');
    expect(await Promise.all([next.exited, other.exited])).toEqual([0, 0]);
    await databases.close();
  });
});

interface Event {
  id: string;
  data: { sequence: number; code: string };
}

/** Reads server-sent events from a response. */
class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  constructor(response: Response) {
    if (!response.ok || !response.body) throw new Error(`no stream: ${response.status}`);
    this.#reader = response.body.getReader();
  }

  /** Returns the next event, or the next one with this code. */
  async next(code?: string): Promise<Event> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end < 0) {
        const { done, value } = await this.#reader.read();
        if (done) throw new Error(`The stream ended before ${code ?? 'the next'}.`);
        this.#text += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const [, data, id = ''] = /^event: entry\ndata: (.*)\nid: (\d+)$/.exec(this.#text.slice(0, end)) ?? [];
      this.#text = this.#text.slice(end + 2);
      if (data === undefined) continue;
      const event: Event = { id, data: JSON.parse(data) };
      if (code === undefined || event.data.code === code) return event;
    }
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }

  async end(): Promise<void> {
    while (!(await this.#reader.read()).done);
  }
}
