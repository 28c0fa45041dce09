import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startDatabaseProxy } from '../../../../../test/support/database-proxy.js';
import { postgresql } from '../../../../../test/support/databases.js';
import { writeForm } from '../../../../../test/support/form-assets.js';
import { longOr } from '../../../../../test/support/long.js';
import { API_KEY, operatorsEnvironment } from '../../../../../test/support/operator.js';
import { startPostgres } from '../../../../../test/support/postgres.js';
import { createTestService } from '../../../../../test/support/service.js';
import { connectClient } from '../../../../../test/support/service-client.js';
import { buildService, mustStart } from '../../../../../test/support/service-process.js';
import { postgresDatabase } from '../../store/database.js';
import { loadMigrations, migrate } from '../../store/migrate.js';
import { startReceiver } from '../../testing/receiver.js';

/** Milliseconds of each outage. */
const OUTAGE = longOr(60_000, 5_000);

describe('a service under load', () => {
  let form: Awaited<ReturnType<typeof writeForm>>;
  beforeAll(async () => {
    buildService();
    form = await writeForm();
  });
  afterAll(() => form.remove());

  it(
    'loses nothing and never responds 500 while PostgreSQL is paused, stopped and killed',
    { timeout: longOr(900_000, 300_000) },
    async () => {
      const postgres = await startPostgres({ settings: { synchronous_commit: 'on' } });
      const receiver = await startReceiver();
      const folder = await mkdtemp(join(tmpdir(), 'outage-'));
      onTestFinished(async () => {
        await receiver.close();
        await postgres.close();
        await rm(folder, { recursive: true, force: true });
      });
      const service = await mustStart({
        ...operatorsEnvironment(folder, form.folder),
        DATABASE_URL: await postgres.createDatabase(),
        MASTER_KEY: randomBytes(32).toString('base64url'),
        EGRESS_ALLOW: '127.0.0.1/32',
        LOG_LEVEL: 'info',
      });
      onTestFinished(() => service.kill('SIGKILL'));
      const client = await connectClient(service, API_KEY);
      const output = (path: string) => ({
        type: 'http',
        config: { settings: { endpoint: receiver.origin + path, method: 'POST', payload_structure: 'array' } },
      });
      const input = await client.make('inputs', 'monad-http');
      const pushed = (await client.build(input, output('/pushed'))).pipeline_id;
      const demo = await client.make('inputs', 'demo', { record_type: 'okta-systemlog', rate: 100 });
      const paged = (await client.build(demo, output('/paged'))).pipeline_id;
      const { url, token } = await client.ingestOf(input);

      const acknowledged: number[] = [];
      const statuses = { ingest: new Set<number>(), api: new Set<number | undefined>() };
      const over = new AbortController();
      let next = 0;
      async function send(): Promise<void> {
        while (!over.signal.aborted) {
          const numbers = Array.from({ length: 10 }, () => next++);
          const headers = { authorization: `Bearer ${token}` };
          const body = numbers.map((n) => JSON.stringify({ n })).join('\n');
          const { status } = await fetch(url, { method: 'POST', headers, body });
          statuses.ingest.add(status);
          if (status === 200) acknowledged.push(...numbers);
          await sleep(20);
        }
      }
      async function read(): Promise<void> {
        while (!over.signal.aborted) {
          statuses.api.add((await client.call('GET', `/v2/~/pipelines/${pushed}/status`))?.status);
          await sleep(100);
        }
      }
      const work = Promise.all([send(), send(), read()]);
      await expect.poll(() => acknowledged.length).toBeGreaterThan(100);
      await expect.poll(() => receiver.at('/paged').counts.size).toBeGreaterThan(0);

      const outages: [() => Promise<void> | void, () => Promise<void> | void][] = [
        [() => postgres.signal('SIGSTOP'), () => postgres.signal('SIGCONT')],
        [() => postgres.stop(), () => postgres.restart()],
        [() => postgres.signal('SIGKILL'), () => postgres.restart()],
      ];
      for (const [take, restore] of outages) {
        await take();
        const [before, delivered] = [acknowledged.length, receiver.at('/pushed').counts.size];
        await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 60_000 }).toBe(503);
        expect((await fetch(`${service.url}/livez`)).status).toBe(200);
        await sleep(OUTAGE);
        // Records are accepted and delivered without the database.
        await expect.poll(() => acknowledged.length).toBeGreaterThan(before);
        await expect.poll(() => receiver.at('/pushed').counts.size).toBeGreaterThan(delivered);
        await restore();
        await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 60_000 }).toBe(200);
        const pages = receiver.at('/paged').counts.size;
        await expect.poll(() => receiver.at('/paged').counts.size, { timeout: 90_000 }).toBeGreaterThan(pages);
      }
      over.abort();
      await work;
      expect(statuses.ingest).toEqual(new Set([200]));
      expect(statuses.api).toEqual(new Set([200, 503]));
      const missing = () => acknowledged.filter((n) => !receiver.at('/pushed').counts.has(JSON.stringify({ n })));
      await expect.poll(() => missing().length, { timeout: 60_000 }).toBe(0);
      await expect.poll(async () => (await client.status(paged)).status, { timeout: 60_000 }).toBe('Running');
      service.kill('SIGTERM');
      expect(await service.exited).toBe(0);
    },
  );
});

describe('an engine', () => {
  it('does not say that no pipeline exists while the database cannot show it', async () => {
    const databases = postgresql();
    const url = await databases.url();
    const proxy = await startDatabaseProxy(url);
    const database = postgresDatabase({ connectionString: proxy.url }, () => undefined, {
      connect: 5_000,
      statement: 5_000,
      response: 5_000,
    });
    // Migrations take longer than a statement may.
    const patient = postgresDatabase({ connectionString: url }, () => undefined);
    await migrate(patient, await loadMigrations());
    await patient.close();
    const service = await createTestService({ database, run: {} });
    onTestFinished(async () => {
      await proxy.restore();
      await service.close();
      await proxy.close();
      await databases.close();
    });
    await service.engine?.started;
    expect(await service.engine?.append('input', ['{}'])).toEqual({ stored: false, reason: 'no_pipeline' });
    await proxy.refuse();
    // Another process has built a pipeline, and this one can't read it.
    service.engine?.changed('a-new-pipeline');
    expect(await service.engine?.append('input', ['{}'])).toEqual({ stored: false, reason: 'unknown' });
    await proxy.restore();
    await expect.poll(() => service.engine?.append('input', ['{}'])).toEqual({ stored: false, reason: 'no_pipeline' });
  });
});
