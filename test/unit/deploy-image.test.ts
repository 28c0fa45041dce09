/**
 * The container image, without Docker: built as deploy/Dockerfile says, and run read-only as its user in a
 * mount namespace with the image's version of Node.js. Then compose.yaml with a real PostgreSQL and a real
 * HAProxy, and the backups of docs/guides/operating.md with the real pg_dump. Only in the long run.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildImage } from '../support/deploy/build-image.js';
import {
  canContain,
  containerCommand,
  dockerVolume,
  kubernetesVolume,
  runContained,
  type Image,
} from '../support/deploy/container.js';
import { composeFile, workersFile, type ComposeService } from '../support/deploy/files.js';
import { startProxy, startWorkersProxy, type Proxy } from '../support/deploy/proxy.js';
import { startSink, type Sink } from '../support/deploy/sink.js';
import { freePort } from '../support/free-port.js';
import { codeOf } from '../support/guides.js';
import { long } from '../support/long.js';
import { API_KEY } from '../support/operator.js';
import { startPostgres, type Postgres } from '../support/postgres.js';
import { connectClient, type ServiceClient } from '../support/service-client.js';
import { mustStart, startService, type ServiceProcess } from '../support/service-process.js';

const run = promisify(execFile);
const MASTER_KEY = 'ab'.repeat(32);
const WAIT = { timeout: 60_000, interval: 200 };

describe.runIf(long && canContain)('the image', () => {
  let place: string;
  let image: Image;
  let base: Record<string, string>;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'image-'));
    image = await buildImage(place);
    // Nothing but this machine may reach it.
    base = { ...image.settings.env, SERVICE_HOST: '127.0.0.1', SERVICE_PORT: '0' };
  }, 1_800_000);
  afterAll(() => rm(place, { recursive: true, force: true }));

  /** Starts a container that is killed when the test ends. */
  async function start(variables: Record<string, string>, volume: string, secrets?: string): Promise<ServiceProcess> {
    const options = secrets === undefined ? {} : { secrets };
    const service = await mustStart({ ...base, ...variables }, containerCommand(image, volume, options));
    onTestFinished(() => service.kill('SIGKILL'));
    return service;
  }
  async function stop(service: ServiceProcess): Promise<void> {
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  }
  /** Writes the secrets as deploy/README.md says: readable in the container, in a closed folder. */
  function writeSecrets(name: string, databaseUrl: string, masterKey = MASTER_KEY): string {
    const folder = join(place, name);
    mkdirSync(folder, { mode: 0o700 });
    const texts = { 'database-url': databaseUrl, 'master-key': masterKey, 'service-api-key': API_KEY };
    for (const [file, text] of Object.entries({ ...texts, 'metrics-token': 'cd'.repeat(16) }))
      writeFileSync(join(folder, file), `${text}\n`, { mode: 0o444 });
    return folder;
  }
  /** Runs a script that the guide shows. */
  async function script(name: string, environment: Record<string, string>): Promise<void> {
    await run('sh', ['-c', await codeOf('operating', name)], { env: { ...process.env, ...environment } });
  }
  const okta = (token: string) => ({
    name: 'Okta',
    type: 'okta-systemlog',
    config: { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: token } } },
  });

  it('contains what runs, and nothing to build or test it', () => {
    const paths = readdirSync(image.folder, { recursive: true, encoding: 'utf8' });
    const packages = readdirSync(join(image.folder, 'node_modules'));
    for (const name of ['vitest', 'typescript', 'playwright-core', 'vite', 'esbuild'])
      expect(packages).not.toContain(name);
    expect(paths.filter((path) => /\.(?:d\.[cm]?ts|map)$|^(?:.*\/)?\.env/.test(path))).toEqual([]);
    const own = paths.filter((path) => path.startsWith('packages/'));
    expect(own.length).toBeGreaterThan(1_000);
    expect(own.filter((path) => /\.tsx?$|\.test\.|tsbuildinfo$/.test(path))).toEqual([]);
    const bytes = paths.reduce((sum, path) => sum + fileSize(join(image.folder, path)), 0);
    expect(bytes).toBeLessThan(260 * 1024 ** 2);
  });

  it('runs with its own database on a read-only root, as a user without rights, and keeps data in its volume', async () => {
    const volume = kubernetesVolume(image);
    const variables = {
      SERVICE_PORT: String(await freePort()),
      BOOTSTRAP_ORGANIZATION: 'Northwind',
      SERVICE_API_KEY: API_KEY,
    };
    const probe = (): Promise<{ code: number | null }> =>
      runContained(containerCommand(image, dockerVolume(image), { command: image.settings.healthcheck }), {
        ...base,
        ...variables,
      });
    expect((await probe()).code).toBe(1);
    const first = await start(variables, volume);
    expect((await probe()).code).toBe(0);
    const client = await connectClient(first, API_KEY);
    const { id } = await client.must<{ id: string }>('POST', '/v2/~/inputs', okta('a-token-of-at-least-20-characters'));
    expect((await fetch(`${first.url}/v/0/connector-frame.js`)).status).toBe(200);
    await stop(first);
    const second = await start(variables, volume);
    expect(await (await connectClient(second, API_KEY)).must('GET', `/v1/~/inputs/${id}`)).toMatchObject({
      name: 'Okta',
    });
    await stop(second);

    const tries = ['/app/x', '/usr/x', '/etc/x', '/x', '/var/lib/x'].map(
      (path) => `touch ${path} && echo wrote ${path};`,
    );
    const words = [
      'sh',
      '-c',
      `id -u; ${tries.join(' ')} touch /tmp/x && echo tmp; grep CapEff /proc/self/status; true`,
    ];
    const { output } = await runContained(containerCommand(image, volume, { command: words }), {});
    expect(output).not.toContain('wrote');
    expect(output).toContain(`${image.settings.user.split(':')[0]}\n`);
    expect(output).toMatch(/^tmp$/m);
    expect(output).toMatch(/CapEff:\s+0+$/m);
  });

  it('creates the first organization by a command', async () => {
    const command = [...image.settings.entrypoint, 'bootstrap', 'Northwind', 'Acme'];
    const { code, output } = await runContained(containerCommand(image, dockerVolume(image), { command }), base);
    expect([code, Object.keys(JSON.parse(output) as object)]).toEqual([0, expect.arrayContaining(['apiKey'])]);
  });

  it('restores a backup of the embedded database', async () => {
    const volume = dockerVolume(image);
    const variables = { BOOTSTRAP_ORGANIZATION: 'Northwind', SERVICE_API_KEY: API_KEY };
    const first = await start(variables, volume);
    const client = await connectClient(first, API_KEY);
    const { id } = await client.must<{ id: string }>('POST', '/v2/~/inputs', okta('a-token-of-at-least-20-characters'));
    await stop(first);

    const [backup, keyFile] = [join(place, 'embedded-backup'), join(place, 'key')];
    await script('backup-embedded.sh', { BACKUP: backup, KEY_FILE: keyFile, DATA_DIR: join(volume, 'data') });
    expect((await run('tar', ['--list', '--file', join(backup, 'data.tar')])).stdout).not.toContain('master.key');

    const other = dockerVolume(image);
    await script('restore-embedded.sh', { BACKUP: backup, KEY_FILE: keyFile, DATA_DIR: join(other, 'data') });
    await run('chown', ['-R', image.settings.user, other]);
    const second = await start(variables, other);
    expect(await (await connectClient(second, API_KEY)).must('GET', `/v1/~/inputs/${id}`)).toMatchObject({
      name: 'Okta',
    });
    await stop(second);
  });

  it('runs the pipelines in workers behind a proxy, as in compose.workers.yaml', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.close());
    const sink = await startSink();
    onTestFinished(() => sink.close());
    const secrets = writeSecrets('workers', await postgres.createDatabase());
    const operator = {
      PUBLIC_URL: 'https://connect.example',
      EGRESS_ALLOW: '127.0.0.0/8',
      FRONT_SUBNET: '127.0.0.0/8',
    };
    const { service, worker } = workersFile(operator).services;
    const ports = { service: await freePort(), first: await freePort(10) };
    const workers = [
      { host: '127.0.0.3', probes: await freePort() },
      { host: '127.0.0.4', probes: await freePort() },
    ];
    const launch = async (of: ComposeService, variables: Record<string, string>): Promise<ServiceProcess> => {
      const entries = Object.entries(of.environment ?? {}).map(([key, value]) => [key, String(value)]);
      const local = { SERVICE_HOST: '127.0.0.1', SYSLOG_PORTS: `${ports.first}-${ports.first + 9}` };
      const started = await mustStart(
        { ...base, ...Object.fromEntries(entries), ...local, ...variables },
        containerCommand(image, dockerVolume(image), { secrets, ...(of.entrypoint && { command: of.entrypoint }) }),
      );
      onTestFinished(() => started.kill('SIGKILL'));
      return started;
    };
    await launch(service, { SERVICE_PORT: String(ports.service) });
    const running = await Promise.all(
      workers.map(({ host, probes }) => launch(worker, { SERVICE_PORT: String(probes), SYSLOG_HOST: host })),
    );
    const proxy = await startWorkersProxy(place, ports.service, ports.first, workers);
    onTestFinished(() => proxy.stop());
    const client = await connectClient(proxy, API_KEY);
    const settings = { endpoint: sink.origin, method: 'POST', payload_structure: 'array' };
    const input = await client.make('inputs', 'monad-http');
    const pushed = await client.build(input, { type: 'http', config: { settings } });
    const listening = await client.build(await client.make('inputs', 'monad-syslog'));
    const { url, token } = await client.ingestOf(input);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
    const send = async (n: number): Promise<number> =>
      (await fetch(proxy.url + new URL(url).pathname, { method: 'POST', headers, body: JSON.stringify({ n }) })).status;
    const note = (): void => {
      const socket = connect(ports.first, '127.0.0.2').on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      socket.write('<13>1 - host app - - - a message\n');
    };
    for (const [n, each] of running.entries()) {
      for (const { pipeline_id: id } of [pushed, listening])
        await expect.poll(() => client.status(id), WAIT).toMatchObject({ status: 'Running' });
      await expect.poll(() => send(n), WAIT).toBe(200);
      await expect.poll(() => sink.arrived.has(n), WAIT).toBe(true);
      note();
      await expect.poll(() => client.status(listening.pipeline_id), WAIT).toMatchObject({ egress: { records: n + 1 } });
      // The other one continues.
      if (n === 0) await stop(each);
    }
  });

  describe('with PostgreSQL, a replica and a proxy, as in compose.yaml', () => {
    let postgres: Postgres;
    let proxy: Proxy;
    let sink: Sink;
    let volume: string;
    let secrets: string;
    let url: string;
    let ports: { engine: number; replica: number };
    let engine: ServiceProcess;
    let replica: ServiceProcess;
    let client: ServiceClient;
    let input: string;
    let pipeline: string;

    function variablesOf(name: 'engine' | 'replica'): Record<string, string> {
      // The sink is on this machine, and so is the proxy.
      const operator = {
        PUBLIC_URL: 'https://connect.example',
        EGRESS_ALLOW: '127.0.0.0/8',
        FRONT_SUBNET: '127.0.0.0/8',
      };
      const { environment = {} } = composeFile(operator).services[name];
      const texts = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, String(value)]));
      return {
        ...texts,
        SERVICE_PORT: String(ports[name]),
        RATE_LIMIT_KEY: 'off',
        RATE_LIMIT_ORGANIZATION: 'off',
        ...local,
      };
    }
    let local: Record<string, string>;
    const launch = async (name: 'engine' | 'replica', at: string, folder: string): Promise<ServiceProcess> =>
      mustStart({ ...base, ...variablesOf(name) }, containerCommand(image, at, { secrets: folder }));

    beforeAll(async () => {
      postgres = await startPostgres();
      url = await postgres.createDatabase();
      sink = await startSink();
      ports = { engine: await freePort(), replica: await freePort() };
      const first = await freePort(10);
      local = { SERVICE_HOST: '127.0.0.1', SYSLOG_HOST: '127.0.0.1', SYSLOG_PORTS: `${first}-${first + 9}` };
      volume = dockerVolume(image);
      secrets = writeSecrets('secrets', url);
      engine = await launch('engine', volume, secrets);
      replica = await launch('replica', dockerVolume(image), secrets);
      proxy = await startProxy(place, ports);
      client = await connectClient(proxy, API_KEY);
      input = await client.make('inputs', 'monad-http');
      const settings = { endpoint: sink.origin, method: 'POST', payload_structure: 'array' };
      const output = { type: 'http', config: { settings, secrets: { auth_headers: { value: { 'x-key': 'kept' } } } } };
      pipeline = (await client.build(input, output)).pipeline_id;
      await vi.waitFor(async () => expect((await client.status(pipeline)).status).toBe('Running'), WAIT);
    });
    afterAll(async () => {
      await proxy?.stop();
      for (const each of [engine, replica]) each?.kill('SIGKILL');
      await Promise.all([engine?.exited, replica?.exited]);
      await sink?.close();
      await postgres?.close();
    });

    let next = 0;
    /** Sends one record through the proxy. */
    async function send(): Promise<Response> {
      const ingest = await address();
      return fetch(ingest.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${ingest.token}`, 'content-type': 'application/x-ndjson' },
        body: JSON.stringify({ n: next++ }),
      });
    }
    let known: { url: string; token: string } | undefined;
    async function address(): Promise<{ url: string; token: string }> {
      const { url: at, token } = (known ??= await client.ingestOf(input));
      return { url: proxy.url + new URL(at).pathname, token };
    }
    const times = <Value>(count: number, task: () => Promise<Value>): Promise<Value[]> =>
      Promise.all(Array.from({ length: count }, task));

    it('sends records, and what only the engine knows, to the engine, and the rest to both', async () => {
      const before = next;
      expect((await times(20, send)).map(({ status }) => status)).toEqual(Array(20).fill(200));
      await expect.poll(() => sink.arrived.size).toBe(next - before);
      const logs = await times(10, () =>
        client.must<{ entries: unknown[] }>('GET', `/v2/~/pipelines/${pipeline}/logs`),
      );
      expect(logs.every(({ entries }) => entries.length > 0)).toBe(true);
      expect((await times(10, () => client.status(pipeline))).map(({ status }) => status)).toEqual(
        Array(10).fill('Running'),
      );
      const metrics = await fetch(`http://127.0.0.1:${ports.replica}/metrics`);
      expect(metrics.status).toBe(401);
      const headers = { authorization: `Bearer ${'cd'.repeat(16)}` };
      const text = await (await fetch(`http://127.0.0.1:${ports.replica}/metrics`, { headers })).text();
      expect(text).toMatch(/http_request_duration_seconds_count\{.*route="\/v1\/\{org\}\/inputs/);
    });

    it('serves the API while the engine is replaced, and records wait for it at their senders', async () => {
      const over = new AbortController();
      let [failures, requests] = [0, 0];
      const polling = (async () => {
        while (!over.signal.aborted) {
          const response = await client.call('GET', `/v1/~/inputs/${input}`);
          requests += 1;
          if (response?.status !== 200) failures += 1;
        }
      })();
      await stop(engine);
      const refused = await send();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      engine = await launch('engine', volume, secrets);
      await expect.poll(async () => (await send()).status).toBe(200);
      over.abort();
      await polling;
      expect(requests).toBeGreaterThan(10);
      expect(failures).toBe(0);
    });

    it('accepts records while the database is away, and says so to other callers', async () => {
      expect((await send()).status).toBe(200);
      await postgres.stop();
      await expect
        .poll(async () => (await client.call<{ error_type: string }>('GET', '/v1/~/inputs'))?.body.error_type)
        .toBe('unavailable');
      expect((await send()).status).toBe(200);
      await postgres.restart();
      await expect.poll(async () => (await client.call('GET', '/v1/~/inputs'))?.status).toBe(200);
    });

    it('restores buffered records and secrets from a backup, only with the master key', async () => {
      await client.must('PATCH', `/v1/~/pipelines/${pipeline}`, { enabled: false });
      await expect.poll(async () => (await client.status(pipeline)).status).toBe('Disabled');
      sink.clear();
      const first = next;
      expect((await times(50, send)).map(({ status }) => status)).toEqual(Array(50).fill(200));
      await stop(engine);
      const backup = join(place, 'backup');
      await script('backup.sh', { BACKUP: backup, DATA_DIR: join(volume, 'data'), DATABASE_URL: url });
      await stop(replica);

      const restored = await postgres.createDatabase();
      const other = dockerVolume(image);
      await script('restore.sh', { BACKUP: backup, DATA_DIR: join(other, 'data'), DATABASE_URL: restored });
      await run('chown', ['-R', image.settings.user, other]);

      const wrong = writeSecrets('wrong', restored, 'cd'.repeat(32));
      const command = containerCommand(image, dockerVolume(image), { secrets: wrong });
      const failed = await startService({ ...base, ...variablesOf('replica') }, command);
      expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('MASTER_KEY') });

      // The drill: without an engine nothing is delivered.
      const right = writeSecrets('right', restored);
      replica = await launch('replica', dockerVolume(image), right);
      const ready: { checks: object } = await (await fetch(`${replica.url}/readyz`)).json();
      expect(ready.checks).toMatchObject({ master_key: 'ok' });
      expect(sink.arrived.size).toBe(0);

      engine = await launch('engine', other, right);
      client = await connectClient(engine, API_KEY);
      await expect.poll(() => client.status(pipeline)).toMatchObject({ status: 'Disabled', waiting: 50 });
      await client.must('PATCH', `/v1/~/pipelines/${pipeline}`, { enabled: true });
      await expect.poll(() => sink.arrived.size).toBe(50);
      expect([...sink.arrived.keys()].toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, n) => first + n),
      );
      expect(sink.keys).toEqual(new Set(['kept']));
    });
  });
});

const fileSize = (path: string): number => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? stats.size : 0;
};
