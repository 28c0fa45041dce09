import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startJetStream } from '../../../../../test/support/brokers/jetstream.js';
import { newDataFolder } from '../../../../../test/support/data-folder.js';
import { postgresql } from '../../../../../test/support/databases.js';
import { writeForm } from '../../../../../test/support/form-assets.js';
import { long, longOr } from '../../../../../test/support/long.js';
import { API_KEY, operatorsEnvironment } from '../../../../../test/support/operator.js';
import { connectClient, type ServiceClient } from '../../../../../test/support/service-client.js';
import { buildService, mustStart, type ServiceProcess } from '../../../../../test/support/service-process.js';
import { startReceiver } from '../../testing/receiver.js';

/** Several processes that run the pipelines of one PostgreSQL together, as operators start them. */

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

async function someFolder(): Promise<string> {
  const folder = await newDataFolder('service');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Environments of processes that share a database and the folder of file outputs. */
async function sharedEnvironment(
  natsUrl?: string,
): Promise<{ files: string; of: () => Promise<Record<string, string>> }> {
  const files = await someFolder();
  const shared = {
    DATABASE_URL: await databases.url(),
    MASTER_KEY: randomBytes(32).toString('base64url'),
    ENGINE: 'shared',
    ...(natsUrl !== undefined && { NATS_URL: natsUrl }),
    FILE_OUTPUT_DIR: files,
    EGRESS_ALLOW: '127.0.0.1/32',
    RATE_LIMIT_KEY: 'off',
    RATE_LIMIT_ORGANIZATION: 'off',
  };
  return { files, of: async () => ({ ...operatorsEnvironment(await someFolder(), form.folder), ...shared }) };
}

async function start(variables: Record<string, string>): Promise<ServiceProcess> {
  const service = await mustStart(variables);
  onTestFinished(() => service.kill('SIGKILL'));
  return service;
}

const until = (client: ServiceClient, id: string, wanted: object, timeout = 20_000) =>
  expect.poll(() => client.status(id), { timeout }).toMatchObject(wanted);

/** Returns how many pipelines a process runs: it exposes metrics of those only. */
async function runningIn(service: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const counts = [...text.matchAll(/pipelines\{status="\w+"\} (\d+)/g)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}

const KILLS = longOr(30, 1);

const buffers = ['PostgreSQL', ...(long ? ['JetStream'] : [])];

it.each(buffers)(
  `loses nothing acknowledged in ${KILLS} kills with buffers in %s, and keeps the order`,
  async (where) => {
    const server = where === 'JetStream' ? await startJetStream() : undefined;
    onTestFinished(async () => server?.close());
    const { files, of } = await sharedEnvironment(server?.url);
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const environments = [await of(), await of()];
    const services = await Promise.all(environments.map(start));
    const clients = await Promise.all(services.map((service) => connectClient(service, API_KEY)));
    const [first] = clients;
    if (!first) throw new Error('No process.');
    const input = await first.make('inputs', 'monad-http');
    const settings = { endpoint: `${receiver.origin}/pushed`, method: 'POST', payload_structure: 'array' };
    const web = await first.build(input, { type: 'http', config: { settings } });
    const file = await first.build(input, { type: 'file', config: { settings: { file_name: 'pushed.ndjson' } } });
    const { url, token } = await first.ingestOf(input);
    const path = new URL(url).pathname;
    const acknowledged: number[] = [];
    const over = new AbortController();
    let next = 0;

    const push = (service: ServiceProcess | undefined, numbers: readonly number[], key: string) =>
      fetch(`${service?.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-ndjson',
          'idempotency-key': key,
        },
        body: numbers.map((n) => JSON.stringify({ n })).join('\n'),
      }).catch(() => undefined);
    // A process sends records to a new pipeline once it knows of it.
    let last = 0;
    for (const service of services) {
      const before = last;
      const arrives = async (): Promise<boolean> => {
        last -= 1;
        await push(service, [last], randomUUID());
        return (await linesIn(files)).some((n) => n < before);
      };
      await expect.poll(arrives).toBe(true);
    }

    /** Sends each group of records in order, through any process, until it is acknowledged. */
    async function work(): Promise<void> {
      while (!over.signal.aborted) {
        const numbers = Array.from({ length: 1 + (next % 20) }, () => next++);
        const key = randomUUID();
        for (let attempt = next; ; attempt += 1) {
          const response = await push(services[attempt % services.length], numbers, key);
          if (response?.ok) break;
          await sleep(20);
        }
        acknowledged.push(...numbers);
      }
    }
    const working = work();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = acknowledged.length;
      await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(before + 100);
      const index = kill % 2;
      services[index]?.kill('SIGKILL');
      await services[index]?.exited;
      const [variables, left] = [environments[index], services[1 - index]];
      if (!variables || !left) throw new Error('There are two.');
      // Sometimes the other one has to take over before this one is back.
      if (kill % 2 === 0) await expect.poll(() => runningIn(left), { timeout: 30_000 }).toBe(2);
      services[index] = await start(variables);
      clients[index] = await connectClient(services[index], API_KEY);
    }
    over.abort();
    await working;
    const [client] = clients;
    if (!client) throw new Error('No process.');
    for (const { pipeline_id: id } of [web, file]) await until(client, id, { status: 'Running', waiting: 0 }, 30_000);
    const { counts, repeatedBatches } = receiver.at('/pushed');
    expect(acknowledged.filter((n) => !counts.has(JSON.stringify({ n })))).toEqual([]);
    expect(repeatedBatches).toBeLessThanOrEqual(KILLS);
    const written = (await linesIn(files)).filter((n) => n >= 0);
    const firsts = [...new Set(written)];
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
    expect(acknowledged.filter((n) => !firsts.includes(n))).toEqual([]);
    for (const service of services) service.kill('SIGTERM');
    expect(await Promise.all(services.map((service) => service.exited))).toEqual([0, 0]);
  },
);

async function linesIn(folder: string): Promise<number[]> {
  const numbers: number[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.includes('pushed')) continue;
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n'))
      if (line !== '') numbers.push(Number(/^\{"n":(-?\d+)\}$/.exec(line)?.[1] ?? Number.NaN));
  }
  return numbers;
}
