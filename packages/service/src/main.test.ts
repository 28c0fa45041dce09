import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeForm } from '../../../test/support/form-assets.js';
import { newDataFolder } from '../../../test/support/data-folder.js';
import { connect, postgresql } from '../../../test/support/databases.js';
import { openStored } from '../../../test/support/stored-secrets.js';
import { format1Connectors, format1MasterText, upgraded } from '../../../test/support/format-1.js';
import { listenHttp } from '../../../test/support/listener.js';
import { long } from '../../../test/support/long.js';
import { API_KEY, operatorsEnvironment } from '../../../test/support/operator.js';
import {
  buildService,
  MAIN,
  mustStart,
  runService,
  startService,
  type ServiceProcess,
} from '../../../test/support/service-process.js';
import { startMailServer } from '../../../test/support/sign-in/mail-server.js';
import { systemClock } from './clock.js';
import { readEnv } from './env.js';
import { createLog } from './log.js';
import { openCore } from './open-core.js';
import { readMasterKey } from './secrets/master-key.js';

let form: Awaited<ReturnType<typeof writeForm>>;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  buildService();
  form = await writeForm();
});
afterAll(() => form.remove());
beforeEach(async () => {
  folder = await newDataFolder('service');
  environment = operatorsEnvironment(folder, form.folder);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const request = (service: ServiceProcess, method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

/** Returns the id of the organization that was created at startup. */
async function organizationOf(service: ServiceProcess): Promise<string> {
  const key: { organization_id: string } = await (await request(service, 'GET', '/v3/api-keys/current')).json();
  return key.organization_id;
}

const stringContaining = (text: string): unknown => expect.stringContaining(text);

/** Runs a command that fails, and returns its exit code and what it printed to standard error. */
function failureOf(words: readonly string[], variables: Record<string, string>): { status: unknown; stderr: unknown } {
  try {
    return { status: 0, stderr: runService(words, variables) };
  } catch (error) {
    if (!(error instanceof Error && 'status' in error && 'stderr' in error)) throw error;
    return { status: error.status, stderr: error.stderr };
  }
}

const okta = (token: string) => ({
  name: token,
  type: 'okta-systemlog',
  config: { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: token } } },
});

describe('the process', () => {
  // kill.test.ts kills it at random times in every run.
  it.runIf(long)('loses no acknowledged write when it is killed (R08)', async () => {
    const first = await mustStart(environment);
    const org = await organizationOf(first);
    first.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    const acknowledged = new Map<string, string>();

    for (let cycle = 0; cycle < 3; cycle += 1) {
      const service = await mustStart(environment);
      const before = acknowledged.size;
      let alive = true;
      const write = async (writer: number) => {
        for (let turn = 0; alive; turn += 1) {
          const token = `token-of-cycle-${cycle}-writer-${writer}-turn-${turn}`;
          const answer = await request(service, 'POST', `/v2/${org}/inputs`, okta(token)).catch(() => undefined);
          if (answer?.status !== 200) continue;
          const made: { id?: string } | undefined = await answer.json().catch(() => undefined);
          if (made?.id === undefined) continue;
          acknowledged.set(made.id, token);
          // Kill at a different point in each cycle, always with writes of the other writers in
          // flight.
          if (acknowledged.size - before === 12 + 7 * cycle) {
            alive = false;
            service.kill('SIGKILL');
          }
        }
      };
      await Promise.all([write(0), write(1), write(2)]);
      expect(await service.exited).toBeNull();
    }

    const core = await openCore(readEnv({ DATA_DIR: folder }), systemClock, createLog('silent'));
    for (const [id, token] of acknowledged) {
      expect(await core.store.connectors.get(org, 'input', id)).toMatchObject({ name: token });
      expect(Object.values(await openStored(core, org, id))).toEqual([token]);
    }
    await core.store.close();
    expect(acknowledged.size).toBeGreaterThan(20);
  });

  it('invites its administrator by mail, who opens the link', async () => {
    const mails = await startMailServer();
    const service = await mustStart({
      ...environment,
      LOCAL_ACCOUNTS: 'on',
      SMTP_URL: mails.url,
      MAIL_FROM: 'connectors@service.example',
      BOOTSTRAP_ADMIN_EMAIL: 'ana@example.com',
    });
    await expect.poll(() => mails.mails.length).toBe(1);
    const link =
      /http:\/\/\S+/.exec(mails.mails[0]?.raw.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=') ?? '')?.[0] ?? '';
    expect(new URL(link).origin).toBe(new URL(service.url).origin);
    const opened = await fetch(link, { redirect: 'manual' });
    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/login/invitation']);
    expect(opened.headers.get('set-cookie')).toMatch(/^sign-in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=/);
    const flags: Record<string, Record<string, { FeatureName: string; Enabled: boolean }[]>> = await (
      await request(service, 'GET', '/v3/feature_flags')
    ).json();
    const own = flags['organizations']?.[await organizationOf(service)] ?? [];
    expect(own.filter(({ Enabled }) => Enabled).map(({ FeatureName }) => FeatureName)).toEqual([
      'engine',
      'node_data',
      'config_overrides',
      'beta_types',
      'local_sign_in',
    ]);
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    await mails.close();
  });

  it.runIf(long)('leaves no partial integration when it is killed while it builds and removes them (R02)', async () => {
    const built = new Map<string, string>();
    let org = '';
    for (let cycle = 0; cycle < 3; cycle += 1) {
      const service = await mustStart(environment);
      org ||= await organizationOf(service);
      const post = async (path: string, body: object): Promise<Record<string, string> | undefined> => {
        const answer = await request(service, 'POST', `/v2/${org}/${path}`, body).catch(() => undefined);
        return answer?.ok === true ? answer.json().catch(() => undefined) : undefined;
      };
      const demo = { name: 'Demo', type: 'demo', config: { settings: {}, secrets: {} } };
      let alive = true;
      let count = 0;
      const work = async (): Promise<void> => {
        while (alive) {
          const input = await post('inputs', demo);
          const made = await post('integrations', { input_id: input?.['id'] ?? '', name: 'Web' });
          if (made?.['pipeline_id'] === undefined || made['output_id'] === undefined) continue;
          count += 1;
          // Remove every second integration, so that the kill interrupts builds and removals.
          if (count % 2 === 0) void post('integrations/delete', made);
          else built.set(made['pipeline_id'], made['output_id']);
          if (count >= 10 + 5 * cycle && alive) {
            alive = false;
            service.kill('SIGKILL');
          }
        }
      };
      await Promise.all([work(), work(), work()]);
      expect(await service.exited).toBeNull();
    }

    const { store } = await openCore(readEnv({ DATA_DIR: folder }), systemClock, createLog('silent'));
    const all = { limit: 1_000, offset: 0 };
    const ids = async (kind: 'input' | 'output') =>
      (await store.connectors.list(org, kind, all)).rows.map(({ id }) => id);
    const [inputs, outputs] = [await ids('input'), await ids('output')];
    const pipelines = (await store.pipelines.list(org, all)).rows;
    const ends = pipelines.map(({ nodes }) => nodes.map((node) => node.component_id));
    for (const [from = '', to = ''] of ends)
      expect([inputs.includes(from), outputs.includes(to)]).toEqual([true, true]);
    // Each output was created for one pipeline, and is removed with it.
    expect(ends.length).toBe(outputs.length);
    expect(new Set(ends.map(([, to]) => to))).toEqual(new Set(outputs));
    for (const [pipeline, output] of built) {
      expect([pipelines.some(({ id }) => id === pipeline), outputs.includes(output)]).toEqual([true, true]);
    }
    await store.close();
    expect(built.size).toBeGreaterThan(10);
  });

  it('rejects a data folder that another process uses, and takes it over when that process is dead (R09)', async () => {
    const holder = await mustStart(environment);
    const second = await startService(environment);
    expect(second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`process ${holder.pid}`) });
    holder.kill('SIGKILL');
    await holder.exited;
    const next = await mustStart(environment);
    next.kill('SIGINT');
    expect(await next.exited).toBe(0);
  });

  it('on SIGTERM stops being ready at once, completes requests in progress, and exits with 0 (R11)', async () => {
    const waiting: (() => void)[] = [];
    const slow = await listenHttp((_request, response) => {
      waiting.push(() => response.end());
    });
    const service = await mustStart({ ...environment, EGRESS_ALLOW: '127.0.0.1/32', DRAIN_DELAY_MS: '1500' });
    const org = await organizationOf(service);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);

    const settings = { endpoint: slow.origin, method: 'POST', payload_structure: 'array' };
    const test = { type: 'http', config: { settings } };
    const underWay = request(service, 'POST', `/v2/${org}/outputs/test-connection`, test);
    await expect.poll(() => waiting.length).toBe(1);
    service.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    waiting.forEach((release) => release());
    expect((await underWay).status).toBe(200);
    expect(await service.exited).toBe(0);
    await expect(stat(join(folder, 'service.lock'))).rejects.toThrow('ENOENT');
    await slow.close();
  });

  it('rejects a wrong or missing master key with the ID of the required one (R13)', async () => {
    const service = await mustStart(environment);
    service.kill('SIGTERM');
    await service.exited;
    const file = join(folder, 'master.key');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { id } = readMasterKey(await readFile(file, 'utf8'));

    const wrong = await startService({ ...environment, MASTER_KEY: randomBytes(32).toString('base64') });
    expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(id) });
    await rename(file, `${file}.away`);
    const missing = await startService(environment);
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(id) });
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await rename(`${file}.away`, file);

    const moved = await mustStart({
      ...environment,
      MASTER_KEY: randomBytes(32).toString('hex'),
      MASTER_KEY_PREVIOUS: (await readFile(file, 'utf8')).trim(),
    });
    expect((await request(moved, 'GET', '/v1/inputs')).status).toBe(200);
    moved.kill('SIGTERM');
    expect(await moved.exited).toBe(0);
  });

  it('requires a master key for PostgreSQL, and creates no table without it', async () => {
    const databases = postgresql();
    const url = await databases.url();
    const refused = await startService({ ...environment, DATABASE_URL: url });
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('MASTER_KEY is not set') });
    const database = connect(url);
    const tables = await database.script((run) =>
      run(`select 1 from information_schema.tables where table_schema = 'public'`),
    );
    expect(tables).toEqual([]);
    await database.close();

    const MASTER_KEY = randomBytes(32).toString('base64url');
    const shared = { ...environment, DATABASE_URL: url, MASTER_KEY };
    const replicas = await Promise.all([mustStart(shared), mustStart({ ...shared, ENGINE: 'off' })]);
    for (const replica of replicas) expect((await request(replica, 'GET', '/v1/inputs')).status).toBe(200);
    for (const replica of replicas) replica.kill('SIGTERM');
    expect(await Promise.all(replicas.map(({ exited }) => exited))).toEqual([0, 0]);
    await databases.close();
  });

  it('reseals the secrets of an earlier release at startup, on two replicas at once (S33)', async () => {
    const databases = postgresql();
    const url = await databases.url();
    const database = await upgraded(connect(url));
    const shared = { ...environment, DATABASE_URL: url, MASTER_KEY: format1MasterText };
    const replicas = await Promise.all([mustStart(shared), mustStart({ ...shared, ENGINE: 'off' })]);
    const left = () =>
      database.script((run) => run(`select count(*)::int as n from secrets where get_byte(sealed, 0) <> 2`));
    await expect.poll(left).toEqual([{ n: 0 }]);
    const wrapped = () =>
      database.script((run) => run(`select count(*)::int as n from data_keys where get_byte(wrapped, 0) <> 2`));
    await expect.poll(wrapped).toEqual([{ n: 0 }]);
    for (const replica of replicas) replica.kill('SIGTERM');
    expect(await Promise.all(replicas.map(({ exited }) => exited))).toEqual([0, 0]);
    const core = await openCore(
      readEnv({ DATA_DIR: folder, DATABASE_URL: url, MASTER_KEY: format1MasterText }),
      systemClock,
      createLog('silent'),
    );
    for (const { id, team, secrets } of format1Connectors()) expect(await openStored(core, team, id)).toEqual(secrets);
    await core.store.close();
    await database.close();
    await databases.close();
  });

  it('creates the first key with the bootstrap command', async () => {
    // As operators start it; the other tests use a bundle.
    const { FORM_DIR = '', DATA_DIR = '' } = environment;
    const printed = runService(['bootstrap', 'By hand', 'Acme'], { DATA_DIR }, MAIN);
    const made: { apiKey: string; organizationId: string; teams: Record<string, string> } = JSON.parse(printed);
    const service = await mustStart({ FORM_DIR, DATA_DIR }, [process.execPath, MAIN]);
    const headers = { 'x-api-key': made.apiKey };
    const teams: { organizations: { id: string }[] } = await (
      await fetch(`${service.url}/v3/${made.organizationId}/organizations`, { headers })
    ).json();
    expect(teams.organizations.map(({ id }) => id)).toEqual([made.teams['Acme']]);
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);

    // Standard output has only the summary, progress goes to standard error.
    const file = join(folder, 'export.gz');
    const summary: { rows: number; master_key_ids: string[] } = JSON.parse(runService(['export', file], { DATA_DIR }));
    expect(summary.rows).toBeGreaterThan(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const other = join(folder, 'other');
    const [keyId = ''] = summary.master_key_ids;
    expect(failureOf(['import', file], { DATA_DIR: other })).toEqual({ status: 1, stderr: stringContaining(keyId) });
    await expect(stat(other)).rejects.toThrow('ENOENT');
    expect(failureOf(['export'], { DATA_DIR })).toEqual({ status: 2, stderr: stringContaining('Usage:') });
  });

  it.runIf(long && process.getuid?.() === 0)('prints only the key to standard output, also with a warning', () => {
    const DATA_DIR = join(folder, 'new');
    // Without `setpriv`, PostgreSQL can't run as root, and the service warns that it uses PGlite.
    const printed = runService(['bootstrap', 'By hand'], { DATA_DIR, PATH: '' });
    expect(JSON.parse(printed)).toMatchObject({ apiKey: expect.any(String) });
  });

  it('names all invalid environment variables without their values', async () => {
    const refused = await startService({ ...environment, SERVICE_PORT: 'many', MASTER_KEY: 'canary' });
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/SERVICE_PORT[\s\S]*MASTER_KEY/) });
    expect(JSON.stringify(refused)).not.toContain('canary');
  });
});
