import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@connector-frame/engine';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { databaseBytes, folderBytes } from '../../../../../test/support/canary/places.js';
import { postgresql } from '../../../../../test/support/databases.js';
import { writeForm } from '../../../../../test/support/form-assets.js';
import { freePort } from '../../../../../test/support/free-port.js';
import { listenHttp } from '../../../../../test/support/listener.js';
import { API_KEY, operatorsEnvironment } from '../../../../../test/support/operator.js';
import { findLeaks } from '../../../../../test/support/secret-texts.js';
import { connectClient } from '../../../../../test/support/service-client.js';
import {
  mainFile,
  mustStart,
  runService,
  startService,
  workerFile,
  type ServiceProcess,
} from '../../../../../test/support/service-process.js';
import { createLog } from '../../log.js';
import { postgresDatabase } from '../../store/database.js';
import { createEngineLeases } from '../../store/engine-leases.js';
import { createEngineState } from '../../store/engine-state.js';
import { UNUSED_BY_WORKERS } from '../../worker-env.js';
import { acquireEngineLease } from '../running/engine-lease.js';

/** A replica without an engine and stateless workers, as operators start them. */

const CANARY = 'canary/of an output "0001" ümlaut+';

const databases = postgresql();
let form: Awaited<ReturnType<typeof writeForm>>;

beforeAll(async () => {
  mainFile();
  form = await writeForm();
});
afterAll(async () => {
  await form.remove();
  await databases.close();
});

async function someFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'worker-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const command = (): string[] => [process.execPath, workerFile()];

async function start(variables: Record<string, string>, program?: readonly string[]): Promise<ServiceProcess> {
  const service = await mustStart(variables, program);
  onTestFinished(() => service.kill('SIGKILL'));
  return service;
}

/** A vendor's API that needs a header, and rejects records with `bad`. */
async function startVendor() {
  const records: Record<string, unknown>[] = [];
  const keys = new Set<unknown>();
  const listener = await listenHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      keys.add(request.headers['x-key']);
      const batch: Record<string, unknown>[] = [body === '' ? [] : JSON.parse(body)].flat();
      const isBad = batch.some((record) => 'bad' in record);
      if (!isBad) records.push(...batch);
      response.writeHead(isBad ? 400 : 200).end();
    });
  });
  onTestFinished(() => listener.close());
  return { origin: listener.origin, records, keys };
}

/** The environment of a process, where the system shows it. */
const environmentOf = (pid: number) => readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0));

const readiness = async ({ url }: ServiceProcess): Promise<unknown> => (await fetch(`${url}/readyz`)).json();

/** Reads a stream of events until it contains a text. */
async function firstWith(text: string, url: string, again: () => Promise<unknown>): Promise<void> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers: { 'x-api-key': API_KEY }, signal: leaving.signal });
  expect(response.status).toBe(200);
  let seen = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) if ((seen += Buffer.from(chunk).toString()).includes(text)) return;
  })();
  reading.catch(() => undefined);
  try {
    await expect
      .poll(async () => {
        await again();
        return seen;
      })
      .toContain(text);
  } finally {
    leaving.abort();
  }
}

it('runs the pipelines of a replica with ENGINE=off, and serves nothing else', async () => {
  const url = await databases.url();
  const MASTER_KEY = randomBytes(32).toString('base64url');
  const common = {
    EGRESS_ALLOW: '127.0.0.1/32',
    SYSLOG_PORTS: String(await freePort()),
    LOG_LEVEL: 'trace',
  };
  const replica = await start({
    ...operatorsEnvironment(await someFolder(), form.folder),
    ...common,
    DATABASE_URL: url,
    MASTER_KEY,
    ENGINE: 'off',
  });
  expect(await readiness(replica)).toMatchObject({
    status: 'degraded',
    checks: { engine: 'no process runs the pipelines' },
  });
  const client = await connectClient(replica, API_KEY);
  const vendor = await startVendor();
  const input = await client.make('inputs', 'monad-http');
  const settings = { endpoint: vendor.origin, method: 'POST', payload_structure: 'array' };
  const secrets = { auth_headers: { value: { 'x-key': CANARY } } };
  const output = { type: 'http', config: { settings, secrets } };
  const { pipeline_id: id } = await client.build(input, output);
  const keyValues = { type: 'kv-lookup', config: { settings: { key_field: 'n' } } };
  const { output_id: table } = await client.build(input, keyValues);
  const send = async (record: object): Promise<number> => {
    const { url: at, token } = await client.ingestOf(input);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(at, { method: 'POST', headers, body: JSON.stringify(record) })).status;
  };
  // Nobody has said yet that workers share the pipelines: an engine with a folder would not find the record.
  expect(await send({ n: 0 })).toBe(503);

  const [files, temporary] = [await someFolder(), await someFolder()];
  await writeFile(join(files, 'url'), url);
  await writeFile(join(files, 'key'), MASTER_KEY);
  const variables = {
    ...common,
    DATABASE_URL_FILE: join(files, 'url'),
    MASTER_KEY_FILE: join(files, 'key'),
    // As in an environment that is shared with the service.
    SERVICE_API_KEY: API_KEY,
    ENGINE: 'off',
    TMPDIR: temporary,
  };
  const one = await start({ ...variables, SYSLOG_HOST: '127.0.0.1' }, command());
  expect(one.output()).toContain('"variables":["SERVICE_API_KEY","ENGINE"]');
  await expect.poll(() => client.status(id)).toMatchObject({ status: 'Running' });
  expect(await readiness(replica)).toMatchObject({ status: 'ok' });
  expect(await readiness(one)).toEqual({
    status: 'ok',
    checks: { database: 'ok', schema: 'ok', master_key: 'ok', engine: 'ok' },
  });

  // Records that the replica accepts arrive through the worker, with the secret.
  await expect.poll(() => send({ n: 1 })).toBe(200);
  await expect.poll(() => vendor.records).toContainEqual({ n: 1 });
  expect(vendor.keys).toEqual(new Set([CANARY]));
  await expect
    .poll(() => client.status(id))
    .toMatchObject({ ingress: { records: 1 }, egress: { records: 1 }, waiting: 0 });

  const size = () => client.must('GET', `/v3/~/kv_lookup/metadata?component_id=${table}`);
  await expect.poll(size).toMatchObject({ number_of_keys: 1 });

  // The worker listens for syslog; the replica does not.
  const syslog = await client.make('inputs', 'monad-syslog');
  const listening = await client.build(syslog, output);
  await expect.poll(() => client.status(listening.pipeline_id)).toMatchObject({ status: 'Running' });
  const socket = connect(Number(common.SYSLOG_PORTS), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).write('<13>1 - host app - - - over syslog\n');
  await expect.poll(() => JSON.stringify(vendor.records)).toContain('over syslog');

  // What only the worker knows, at the replica.
  await client.must('POST', `/v1/~/pipelines/${id}/retry`);
  const logs = `${replica.url}/v2/${client.org}/pipelines/${id}/logs`;
  await firstWith('"code":"started"', `${logs}/stream`, async () => undefined);
  const { nodes } = await client.must<{ nodes: { id: string; component_type: string }[] }>(
    'GET',
    `/v2/~/pipelines/${id}`,
  );
  const node = nodes.find((each) => each.component_type === 'output')?.id ?? '';
  await firstWith('watched', `${replica.url}/v1/${client.org}/data/${node}`, () => send({ text: 'watched' }));
  expect(await send({ bad: true })).toBe(200);
  const letters = `/v1/~/pipelines/${id}/dead-letters`;
  const listed = async () => JSON.stringify(await client.must('GET', letters));
  await expect.poll(listed).toContain('"bad":true');
  await client.must('DELETE', `${letters}?all=true`);
  expect(await listed()).not.toContain('"bad":true');
  await client.must('POST', '/v2/~/outputs/test-connection', output);

  // Nothing of the API in a worker.
  const { paths }: { paths: Record<string, object> } = await (await fetch(`${replica.url}/openapi.json`)).json();
  const probes = new Set(['/livez', '/readyz', '/metrics']);
  const others = Object.keys(paths).filter((path) => !probes.has(path));
  expect(others.length).toBeGreaterThan(100);
  const served = ['/', '/openapi.json', '/embed/', '/api/v1/inputs', `/ingest/${input}`, ...others];
  const headers = { 'x-api-key': API_KEY };
  for (const path of served) {
    const { status } = await fetch(`${one.url}${path.replaceAll(/[{}]/g, '')}`, { headers });
    expect([path, status]).toEqual([path, 404]);
  }
  for (const path of probes) {
    expect((await fetch(one.url + path)).status).toBe(200);
    expect((await fetch(one.url + path, { method: 'POST' })).status).toBe(404);
  }

  // The secret of the output is in the vault alone, encrypted.
  const database = postgresDatabase({ connectionString: url }, () => undefined);
  onTestFinished(() => database.close());
  const places = {
    database: await databaseBytes({ database }),
    folder: await folderBytes(temporary),
    log: one.output(),
    environment: await environmentOf(one.pid),
    metrics: await (await fetch(`${one.url}/metrics`)).text(),
  };
  expect(places.log).toContain('"level"');
  expect(places.database.length).toBeGreaterThan(10_000);
  expect(findLeaks({ CANARY, MASTER_KEY }, places)).toEqual([]);
  // The search finds what is there.
  expect(findLeaks({ MASTER_KEY }, { environment: await environmentOf(replica.pid) })).toHaveLength(
    process.platform === 'linux' ? 3 : 0,
  );

  // A worker that ends hands its pipelines over, and leaves nothing behind.
  const two = await start({ ...variables, SYSLOG_HOST: '127.0.0.2' }, command());
  one.kill('SIGTERM');
  expect(await one.exited).toBe(0);
  expect(await readdir(temporary)).toHaveLength(1);
  await expect.poll(() => client.status(id)).toMatchObject({ status: 'Running' });
  expect(await send({ n: 2 })).toBe(200);
  await expect.poll(() => vendor.records).toContainEqual({ n: 2 });
  const { entries } = await client.must<{ entries: { code: string }[] }>('GET', `/v2/~/pipelines/${id}/logs`);
  expect(entries.map(({ code }) => code)).toEqual(expect.arrayContaining(['started', 'stopped']));
  two.kill('SIGTERM');
  expect(await two.exited).toBe(0);
  // Records wait in the database for the next worker. An engine with a folder would not find them.
  expect(await send({ n: 3 })).toBe(200);
  const queries = { state: createEngineState(database.queries), leases: createEngineLeases(database.queries) };
  const own = { ...queries, folder: await someFolder(), clock: systemClock, log: createLog('silent') };
  await expect(acquireEngineLease(own)).rejects.toThrow('Another process runs the pipelines');
  replica.kill('SIGTERM');
  expect(await replica.exited).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
});

it('names what it needs and what it ignores', async () => {
  const help = runService(['--help'], {}, workerFile());
  for (const name of UNUSED_BY_WORKERS) expect(help).toContain(name);
  expect(await startService({}, command())).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('DATABASE_URL must be set'),
  });
});
