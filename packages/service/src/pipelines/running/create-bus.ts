import { readdir } from 'node:fs/promises';
import {
  createEmbeddedBus,
  type Bus,
  type DiskState,
  type EmbeddedBusOptions,
  type NatsSettings,
  type StreamRegistry,
} from '@connector-frame/engine';
import type { JetStreamBus } from '@connector-frame/engine/jetstream';
import type { Logger } from 'pino';
import { isErrno } from '../../is-errno.js';
import type { Queries } from '../../store/database.js';
import type { Fence } from '../../store/engine-state.js';
import { createJetStreamRegistry } from '../../store/jetstream-registry.js';
import { moveBuffers } from './move-buffers.js';

/** NATS with JetStream, for the buffers. */
export interface NatsBuffers extends NatsSettings {
  /** Prefix of JetStream streams and subjects. */
  prefix: string;
  /** Number of JetStream streams over which new streams are distributed. */
  shards: number;
  /** Replicas of each JetStream stream. Absent: three in a cluster, otherwise one. */
  replicas?: number | undefined;
}

export interface BusOptions {
  /** Folder of the buffers that are stored in files. */
  folder: string;
  queries: Queries;
  fence: Fence;
  /** Identifies the database. */
  owner: string;
  limits: Pick<EmbeddedBusOptions, 'maxBytes' | 'maxSpillBytes' | 'minFreeBytes'>;
  /** Absent: the buffers are in files. */
  nats: NatsBuffers | undefined;
  log: Logger;
}

/** The buffers of the engine, and where they are stored. */
export interface EngineBus {
  readonly bus: Bus;
  /** Returns the names of all streams. */
  names(): Promise<string[]>;
  /** Returns `ok`, or in a few words what is wrong with the storage. */
  check(): Promise<string>;
  /** Logs when the storage has become full or failing, or has recovered. */
  logChanges(): Promise<void>;
  /** Takes over the buffers of a release or setting that stored them elsewhere. */
  migrate(): Promise<void>;
}

/** Opens the buffers in JetStream if NATS is configured, otherwise in files. */
export async function createBus(options: BusOptions): Promise<EngineBus> {
  return options.nats ? createInJetStream(options, options.nats) : createInFiles(options);
}

function createInFiles({ folder, limits, log }: BusOptions): EngineBus {
  const bus = createEmbeddedBus({
    folder,
    ...limits,
    onDamage: (damage) => log.error({ ...damage }, 'buffer damaged'),
  });
  let status: DiskState['status'] = 'ok';
  return {
    bus,
    names: () => namesIn(folder),
    check: async () => describeDisk(await bus.disk()),
    async logChanges() {
      const disk = await bus.disk();
      if (disk.status === status) return;
      ({ status } = disk);
      if (status === 'ok') log.info({ disk }, 'disk has recovered; accepting records');
      else log.error({ disk }, status === 'low' ? 'disk is full; rejecting new records' : 'disk writes fail');
    },
    migrate: () => Promise.resolve(),
  };
}

async function createInJetStream(options: BusOptions, nats: NatsBuffers): Promise<EngineBus> {
  const { folder, queries, fence, owner, limits, log } = options;
  const { minFreeBytes: _, ...budgets } = limits;
  const registry = createJetStreamRegistry(queries, fence);
  const { bus, check, logChanges } = await openJetStream({ registry, owner, limits: budgets, nats, log });
  return {
    bus,
    names: () => bus.list(),
    check: () => Promise.resolve(check()),
    logChanges: () => Promise.resolve(logChanges()),
    async migrate() {
      const names = await namesIn(folder);
      if (names.length > 0) await moveBuffers({ folder, names, to: bus, target: 'JetStream', log });
    },
  };
}

export interface JetStreamOptions extends Pick<BusOptions, 'owner' | 'log'> {
  registry: StreamRegistry;
  limits: Pick<EmbeddedBusOptions, 'maxBytes' | 'maxSpillBytes'>;
  nats: NatsBuffers;
  /** Whether other processes may read the same streams. */
  isShared?: boolean;
}

/** The bus in JetStream, with what operators should know of it. */
export interface OpenJetStream {
  readonly bus: JetStreamBus;
  /** Returns `ok`, or in a few words what is wrong. */
  check: () => string;
  /** Logs when the storage has become full or failing, or has recovered. */
  logChanges: () => void;
}

/** Opens the bus in JetStream. */
export async function openJetStream(options: JetStreamOptions): Promise<OpenJetStream> {
  const { registry, owner, limits, nats, log, isShared = false } = options;
  const { prefix, shards, replicas, ...settings } = nats;
  // Loads the client of NATS only where it is used.
  const { createJetStreamBus } = await import('@connector-frame/engine/jetstream');
  const bus = await createJetStreamBus({
    nats: settings,
    registry,
    owner,
    prefix,
    shards,
    replicas,
    isShared,
    ...limits,
    onWarning: (message) => log.warn(message),
    onLost: (stream, records) => log.error({ stream, records }, 'buffered records are missing in JetStream'),
  });
  let status = 'ok';
  return {
    bus,
    check: () => bus.check(),
    logChanges() {
      const now = bus.check();
      if (now === status) return;
      status = now;
      if (status === 'ok') log.info('JetStream has recovered; accepting records');
      else log.error({ jetstream: status }, 'JetStream cannot store records; rejecting new ones');
    },
  };
}

/** Returns the names in a folder: of streams, or of the folders of pipelines. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

function describeDisk({ status, freeBytes, minFreeBytes, code }: DiskState): string {
  if (status === 'ok') return 'ok';
  if (status === 'failing') return `writes fail (${code ?? 'unknown'})`;
  const free = freeBytes === undefined ? 'full' : `${inMib(freeBytes)} free`;
  return `${free}, MIN_FREE_BYTES is ${inMib(minFreeBytes)}; new records are rejected`;
}

const inMib = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MiB`;
