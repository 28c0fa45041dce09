import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Client } from 'pg';
import { ensureNats } from '../scripts/lib/ensure-brokers.mjs';
import { ensurePostgres } from '../scripts/lib/ensure-postgres.mjs';
import { cache } from '../scripts/lib/root.mjs';
import { startService } from './pipelines.mjs';
import { cpuOf, findProcess, memoryOf, treeOf, writtenBy } from './processes.mjs';

/** As in production: nothing is acknowledged before it is on disk. Buffers have the size of a small server's. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', shared_buffers: '128MB' };

/** Loads a module of the tests' support. */
async function load(name) {
  const outfile = `${cache}/bench/${name.replaceAll('/', '-')}.mjs`;
  await build({
    entryPoints: [fileURLToPath(new URL(`../test/support/${name}.ts`, import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outfile,
    logLevel: 'error',
  });
  return import(outfile);
}

/**
 * Starts a service with what it stores its data in.
 * @param name `embedded`, `postgres`, `nats` or `shared`
 */
export async function startTopology(name) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-topology-'));
  const closers = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const each of closers.toReversed()) await each();
  };
  try {
    const metricsToken = 'bench-metrics-token';
    const env = { METRICS_TOKEN: metricsToken, METRICS_PIPELINES: '1000' };
    let query;
    let postmaster;
    let nats;
    if (name !== 'embedded') {
      await ensurePostgres();
      const postgres = await (await load('postgres')).startPostgres({ settings: DURABLE });
      closers.push(() => postgres.close());
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      closers.push(() => client.end());
      query = async (text, values) => (await client.query(text, values)).rows;
      const [{ pid }] = await query('select pg_backend_pid() as pid');
      postmaster = await parentOf(pid);
      Object.assign(env, { DATABASE_URL: postgres.url, MASTER_KEY: randomBytes(32).toString('hex') });
    }
    if (name === 'nats' || name === 'shared-nats') {
      await ensureNats();
      const server = await (await load('brokers/jetstream')).startJetStream();
      closers.push(() => server.close());
      nats = await findProcess(join(server.store, '..', 'nats.conf'));
      env.NATS_URL = server.url;
    }
    if (name.startsWith('shared')) env.ENGINE = 'shared';
    const start = (words = [], place = 'data') => startService(join(folder, place), env, words);
    const service = await start();
    closers.push(() => service.stop());
    const furthers = [];
    const { url, apiKey, org, parent } = service;

    /** Returns the ids of the processes by what they are. */
    async function processes() {
      const tree = await treeOf(service.pid);
      const own = [service.pid, ...furthers.map(({ pid }) => pid)];
      const database = postmaster ? await treeOf(postmaster) : tree.slice(1);
      return { service: own, database, ...(nats && { nats: [nats] }) };
    }
    const measure = async (of) =>
      Object.fromEntries(
        await Promise.all(Object.entries(await processes()).map(async ([role, pids]) => [role, await of(pids)])),
      );
    return {
      name,
      folder,
      query,
      databaseUrl: env.DATABASE_URL,
      metricsToken,
      org,
      parent,
      service,
      access: { url, apiKey },
      /** CPU time in milliseconds, by role: `service`, `database`, `nats`. */
      async cpu() {
        const all = await measure(cpuOf);
        // Without child processes of the service: processes of the embedded database are counted as `database`.
        let own = 0;
        for (const each of [service, ...furthers]) {
          const { cpu } = await each.figures();
          own += (cpu.user + cpu.system) / 1_000;
        }
        return { ...all, service: own };
      },
      /** Memory in bytes, by role. */
      memory: () =>
        measure(async (pids) => (await Promise.all(pids.map(memoryOf))).reduce((sum, each) => sum + each, 0)),
      /** Bytes written to disks, by role. */
      written: () => measure(writtenBy),
      /** Starts a further process of the service, which counts from then on, and returns it. */
      async startFurther() {
        const further = await start(['further'], 'further');
        furthers.push(further);
        closers.push(() => further.stop());
        return further;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function parentOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.split(') ').at(-1).split(' ')[1]);
}
