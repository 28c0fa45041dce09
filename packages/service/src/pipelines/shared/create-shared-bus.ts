import type { Bus } from '@connector-frame/engine';
import { PostgresBus, type PostgresBusOptions } from '../../store/bus/postgres-bus.js';
import type { Queries } from '../../store/database.js';
import { createSharedJetStreamRegistry } from '../../store/jetstream-registry.js';
import { orphanedStreams } from '../../store/shared-cleanup.js';
import { createSharedLeftovers } from '../../store/shared-leftovers.js';
import { openJetStream, type BusOptions } from '../running/create-bus.js';
import { takeBuffers } from '../running/take-shared.js';
import type { Assignments } from './assignments.js';

export interface SharedBusOptions
  extends Omit<PostgresBusOptions, 'fenceOf'>, Pick<BusOptions, 'owner' | 'nats' | 'log'> {
  queries: Queries;
  memberId: string;
  assignments: Pick<Assignments, 'tokenOf'>;
}

/** The buffers of a shared engine. */
export interface SharedBus {
  readonly bus: Bus;
  /** Returns the bus for a version of a pipeline: an earlier one changes no consumers. */
  at(version: number): Bus;
  /** Where they are, for the log. */
  readonly target: string;
  /** Returns `ok`, or in a few words what is wrong with the storage. */
  check(): string;
  /** Logs when the storage has become full or failing, or has recovered. */
  logChanges(): void;
  /** Takes over the buffers of a setting that stored them elsewhere in the database. */
  migrate(): Promise<void>;
  /** Removes the streams of pipelines that were removed. */
  tidy(): Promise<void>;
}

/** Opens the buffers in JetStream if NATS is configured, otherwise in the database. */
export async function createSharedBus(options: SharedBusOptions): Promise<SharedBus> {
  const { pool, queries, memberId, assignments, nats, maxBytes, maxSpillBytes, owner, log } = options;
  if (!nats) {
    const bus = new PostgresBus({
      ...options,
      fenceOf(stream) {
        const pipelineId = stream.slice(0, stream.indexOf('.'));
        const token = assignments.tokenOf(pipelineId);
        return token === undefined ? undefined : { pipelineId, token };
      },
    });
    return {
      bus,
      at: (version) => bus.at(version),
      target: 'PostgreSQL',
      // `/readyz` checks the database separately.
      check: () => 'ok',
      logChanges: () => undefined,
      migrate: () => Promise.resolve(),
      // With the other tables.
      tidy: () => Promise.resolve(),
    };
  }
  const registry = createSharedJetStreamRegistry(queries, { memberId, leaseOf: (id) => assignments.tokenOf(id) });
  const limits = { ...(maxBytes !== undefined && { maxBytes }), ...(maxSpillBytes !== undefined && { maxSpillBytes }) };
  const { bus, check, logChanges } = await openJetStream({ registry, owner, limits, nats, log, isShared: true });
  return {
    bus,
    at: (version) => bus.at(version),
    target: 'JetStream',
    check,
    logChanges,
    async migrate() {
      const batches = await takeBuffers({ leftovers: createSharedLeftovers(queries), bus, log });
      if (batches > 0) log.info({ batches }, 'buffers moved from PostgreSQL to JetStream');
    },
    async tidy() {
      for (const name of await orphanedStreams(pool)) await bus.remove(name);
    },
  };
}
