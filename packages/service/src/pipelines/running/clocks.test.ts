import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect, postgresql } from '../../../../../test/support/databases.js';
import { expireEngineLease } from '../../../../../test/support/engine-lease.js';
import { writeForm } from '../../../../../test/support/form-assets.js';
import { API_KEY, operatorsEnvironment } from '../../../../../test/support/operator.js';
import { connectClient, type ServiceClient } from '../../../../../test/support/service-client.js';
import {
  buildService,
  mainFile,
  mustStart,
  startService,
  type ServiceProcess,
} from '../../../../../test/support/service-process.js';
import type { Database } from '../../store/database.js';
import { createEngineLeases } from '../../store/engine-leases.js';
import { createEngineState } from '../../store/engine-state.js';
import { long } from '../../../../../test/support/long.js';

const SHIFT_CLOCK = fileURLToPath(new URL('../../../../../test/support/shift-clock.mjs', import.meta.url));
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function start(variables: Record<string, string>, command?: readonly string[]): Promise<ServiceProcess> {
  const service = await mustStart(variables, command);
  onTestFinished(() => service.kill('SIGKILL'));
  return service;
}

const send = async ({ url, token }: { url: string; token: string }): Promise<number> =>
  (await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{"n":1}' })).status;

async function buildPipelines(client: ServiceClient) {
  const input = await client.make('inputs', 'monad-http');
  const pushed = (await client.build(input)).pipeline_id;
  const paged = (await client.build(await client.make('inputs', 'demo'))).pipeline_id;
  return { pushed, paged, address: await client.ingestOf(input) };
}

/** Several processes of the service on one PostgreSQL, with clocks that differ. */
describe('processes whose clocks differ', () => {
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

  interface Shared {
    database: Database;
    environment: () => Promise<Record<string, string>>;
  }

  async function shareDatabase(): Promise<Shared> {
    const url = await databases.url();
    const database = connect(url);
    onTestFinished(() => database.close());
    const key = randomBytes(32).toString('base64url');
    return {
      database,
      environment: async () => {
        const folder = await mkdtemp(join(tmpdir(), 'clocks-'));
        onTestFinished(() => rm(folder, { recursive: true, force: true }));
        return { ...operatorsEnvironment(folder, form.folder), DATABASE_URL: url, MASTER_KEY: key };
      },
    };
  }

  /** Returns the command and the environment of a service whose clock is shifted. */
  async function shifted({ environment }: Shared, milliseconds: number) {
    const variables = await environment();
    const file = join(variables['DATA_DIR'] ?? '', 'clock-shift');
    const shift = (ms: number) => writeFile(file, String(ms));
    await shift(milliseconds);
    return {
      variables: { ...variables, CLOCK_SHIFT_FILE: file },
      command: [process.execPath, '--import', SHIFT_CLOCK, mainFile()],
      shift,
    };
  }

  it.runIf(long)('never take over a live lease, a minute ahead or behind', async () => {
    const shared = await shareDatabase();
    const engine = await start(await shared.environment());
    const client = await connectClient(engine, API_KEY);
    const { pushed, address } = await buildPipelines(client);
    for (const offset of [MINUTE, -MINUTE]) {
      const { variables, command } = await shifted(shared, offset);
      expect(await startService(variables, command)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/Another process runs the pipelines .* start again in (?:[1-9]|1[0-5]) seconds/),
      });
      // A replica reads the status of the engine whose clock differs.
      const replica = await start({ ...variables, ENGINE: 'off' }, command);
      const there = await connectClient(replica, API_KEY);
      await expect.poll(async () => (await there.status(pushed)).status).toBe('Running');
      replica.kill('SIGKILL');
      await replica.exited;
    }
    expect(await send(address)).toBe(200);
    engine.kill('SIGTERM');
    expect(await engine.exited).toBe(0);
  });

  it('keep the lease and their pipelines when the clock of the holder jumps by an hour', async () => {
    const shared = await shareDatabase();
    const { variables, command, shift } = await shifted(shared, 0);
    const engine = await start(variables, command);
    const client = await connectClient(engine, API_KEY);
    const { pushed, paged, address } = await buildPipelines(client);
    const running = async () => [(await client.status(pushed)).status, (await client.status(paged)).status];
    await expect.poll(running).toEqual(['Running', 'Running']);
    const state = createEngineState(shared.database.queries);
    const renewals = async () => (await state.get('lease:engine/'))?.version ?? 0;
    for (const jump of [HOUR, -HOUR]) {
      await shift(jump);
      engine.kill('SIGUSR2');
      const before = await renewals();
      await expect.poll(renewals).toBeGreaterThan(before + 1);
      expect(await send(address)).toBe(200);
      expect(await createEngineLeases(shared.database.queries).acquire('other', 1_000)).toBeUndefined();
    }
    await expect.poll(running).toEqual(['Running', 'Running']);
    const log = await client.must<{ entries: { code: string }[] }>('GET', `/v2/~/pipelines/${paged}/logs`);
    expect(log.entries.map(({ code }) => code)).not.toContain('lease_lost');
    engine.kill('SIGTERM');
    expect(await engine.exited).toBe(0);
  });

  it('fence a holder that was paused while another process took over', async () => {
    const shared = await shareDatabase();
    const first = await start(await shared.environment());
    const client = await connectClient(first, API_KEY);
    const { paged, address } = await buildPipelines(client);
    await expect.poll(async () => (await client.status(paged)).egress.records).toBeGreaterThan(0);
    first.kill('SIGSTOP');
    await expireEngineLease(shared.database);
    const second = await start(await shared.environment());
    const there = await connectClient(second, API_KEY);
    await expect.poll(async () => (await there.status(paged)).status).toBe('Running');
    const state = createEngineState(shared.database.queries);
    const [key = ''] = await state.keys(`cursor:${paged}/`);
    const taken = await state.get(key);

    first.kill('SIGCONT');
    // It no longer accepts records, and reports the state that the other process reports.
    await expect.poll(() => send(address)).toBe(503);
    expect(await (await fetch(`${first.url}/readyz`)).json()).toMatchObject({
      status: 'degraded',
      checks: { engine: 'lost its lease to another process' },
    });
    await expect.poll(async () => (await client.status(paged)).status).toBe('Running');
    const after = await state.get(key);
    expect(after?.value).toMatchObject({ token: Reflect.get(Object(taken?.value), 'token') });
    for (const each of [first, second]) each.kill('SIGTERM');
    expect(await Promise.all([first.exited, second.exited])).toEqual([0, 0]);
  });
});
