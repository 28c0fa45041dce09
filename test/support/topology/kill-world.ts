import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver, type Receiver } from '../../../packages/service/src/testing/receiver.js';
import { writeForm } from '../form-assets.js';
import { API_KEY, operatorsEnvironment } from '../operator.js';
import { startPostgres, type Postgres } from '../postgres.js';
import { connectClient, type ServiceClient } from '../service-client.js';
import { recordLeases, type LeaseHistory } from './lease-history.js';
import { compare, startSender, type Sender } from './senders.js';
import { startTopology, type Topology } from './topology.js';

/** A pipeline from a sender to the receiver. */
interface Fed {
  id: string;
  path: string;
  sender: Sender;
}

/** What became of the records of all pipelines. */
export interface Result {
  acknowledged: number;
  /** Acknowledged records that did not arrive, and those whose first arrival was after a later record of their key. */
  lost: number[];
  early: number[];
  /** Batches that arrived again, at most of one pipeline. */
  repeated: number;
  violations: string[];
  /** Times that a pipeline went to another process. */
  moves: number;
}

/** Two replicas behind a proxy and two workers on a new PostgreSQL database, with pipelines that receive records. */
export interface KillWorld {
  readonly topology: Topology;
  readonly postgres: Postgres;
  readonly leases: LeaseHistory;
  /** Waits until this many further records were acknowledged. */
  flow(records: number): Promise<void>;
  /** Waits until a process runs each pipeline. */
  taken(): Promise<void>;
  /** Stops the senders, waits until everything is delivered, and compares. */
  result(): Promise<Result>;
  close(): Promise<void>;
}

const PIPELINES = 4;
/** Milliseconds after which records that have not arrived count as lost. */
const DELIVERY_MS = 60_000;

export interface KillWorldOptions {
  shiftsClocks?: boolean;
}

/** Starts the world. If that fails, closes what has started. */
export async function startKillWorld({ shiftsClocks = false }: KillWorldOptions = {}): Promise<KillWorld> {
  const closing: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closing.toReversed()) await each();
  };
  try {
    const form = await writeForm();
    closing.push(() => form.remove());
    // A kill of the server must not lose what it has confirmed.
    const postgres = await startPostgres({ settings: { synchronous_commit: 'on', max_connections: '200' } });
    closing.push(() => postgres.close());
    const receiver = await startReceiver();
    closing.push(() => receiver.close());
    const { DATA_DIR: _folder, ...environment } = operatorsEnvironment('', form.folder);
    const databaseUrl = await postgres.createDatabase();
    const topology = await startTopology({
      databaseUrl,
      shiftsClocks,
      environment: { ...environment, EGRESS_ALLOW: '127.0.0.1/32' },
    });
    closing.push(() => topology.close());
    const leases = await recordLeases(databaseUrl);
    const client = await connectClient(topology, API_KEY);
    const fed: Fed[] = [];
    for (let index = 0; index < PIPELINES; index += 1) {
      const one = await build(client, receiver, index);
      fed.push(one);
      closing.push(() => one.sender.abandon());
    }
    const acknowledged = (): number => fed.reduce((sum, { sender }) => sum + sender.acknowledged.length, 0);
    return {
      topology,
      postgres,
      leases,
      close,
      async flow(records) {
        const before = acknowledged();
        await until(async () => acknowledged() - before >= records);
      },
      taken: () => until(async () => (await leases.free()) === 0),
      async result() {
        await Promise.all(fed.map(({ sender }) => sender.stop()));
        const result = { lost: [] as number[], early: [] as number[], repeated: 0 };
        for (const { id, path, sender } of fed) {
          const arrived = receiver.at(path);
          // The status comes from the last report, so it does not show whether the last records have arrived.
          const deadline = performance.now() + DELIVERY_MS;
          await until(async () => performance.now() > deadline || compare(sender, arrived).lost.length === 0);
          await until(async () => (await client.status(id)).status === 'Running');
          result.repeated = Math.max(result.repeated, arrived.repeatedBatches);
          const { lost, early } = compare(sender, arrived);
          result.lost.push(...lost);
          result.early.push(...early);
        }
        return {
          ...result,
          acknowledged: acknowledged(),
          violations: await leases.violations(),
          moves: await leases.moves(),
        };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(client: ServiceClient, receiver: Receiver, index: number): Promise<Fed> {
  const path = `/pushed-${index}`;
  const settings = { endpoint: receiver.origin + path, method: 'POST', payload_structure: 'array' };
  const input = await client.make('inputs', 'monad-http');
  const { pipeline_id: id } = await client.build(input, { type: 'http', config: { settings } });
  return { id, path, sender: startSender(await client.ingestOf(input)) };
}

/** Polls until a condition holds. The time limit of the test ends it. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await sleep(100);
}

/** What is killed. */
export type Victim = 'replica' | 'worker' | 'PostgreSQL';

/**
 * Kills a process of one kind at random, and starts it again.
 * @param options.waits whether others have to take over its pipelines before it is back
 */
export async function kill(world: KillWorld, victim: Victim, { waits }: { waits: boolean }): Promise<void> {
  const { topology, postgres } = world;
  await sleep(Math.random() * 200);
  if (victim === 'PostgreSQL') {
    postgres.signal('SIGKILL');
    await postgres.restart();
    return;
  }
  const members = topology.members.filter(({ kind }) => kind === victim);
  const member = members[Math.floor(Math.random() * members.length)];
  const moves = await world.leases.moves();
  await member?.kill();
  // Its leases expire seconds after the kill. A replica has none.
  if (waits && victim === 'worker') await until(async () => (await world.leases.moves()) > moves);
  await member?.start();
}
