import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  createEmbeddedCoordinator,
  isRecord,
  replaceFile,
  type Clock,
  type Coordinator,
  type Lease,
} from '@connector-frame/engine';
import type { Logger } from 'pino';
import type { EngineState } from '../../store/engine-state.js';
import { lockFolder } from '../../store/folder-lock.js';
import { isErrno } from '../../is-errno.js';

/**
 * Another process already runs the pipelines, or the folder belongs to another database. The
 * message states the remedy.
 */
export class EngineInUseError extends Error {
  override readonly name = 'EngineInUseError';
}

/** The exclusive right to run the pipelines of a database with the buffers in a folder. */
export interface EngineLease {
  /** Identifies the engine of this folder. Stable across restarts. */
  readonly holder: string;
  /** Fencing token: increases with every process that acquires the lease. */
  readonly epoch: number;
  /** Aborted when another process has acquired the lease. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

export const ENGINE = 'engine';
const DATABASE = 'meta:database/';
/**
 * Lease TTL in milliseconds. After this time, a process with another folder can take over from one
 * that was killed.
 */
export const LEASE_TTL = 15_000;
const RENEW_INTERVAL = 5_000;

export interface EngineLeaseOptions {
  folder: string;
  state: EngineState;
  clock: Clock;
  log: Logger;
}

/**
 * Acquires a folder and a database for this process, and holds them until `release`.
 * @throws FolderInUseError, EngineInUseError
 */
export async function acquireEngineLease({ folder, state, clock, log }: EngineLeaseOptions): Promise<EngineLease> {
  const lock = await lockFolder(folder, {
    what: 'The folder of the engine',
    advice: 'Stop it first, choose another DATA_DIR, or set ENGINE=off for a replica that runs no pipelines.',
  });
  try {
    const holder = await identify(folder, state);
    const coordinator = createEmbeddedCoordinator({ store: state, now: () => clock.now() });
    const lease = await coordinator.acquire(ENGINE, holder, LEASE_TTL);
    if (!lease) throw inUse(await coordinator.holder(ENGINE), clock.now());
    const heartbeat = new Heartbeat(coordinator, lease, clock, log);
    return {
      holder,
      epoch: lease.token,
      lost: heartbeat.lost.signal,
      async release() {
        await heartbeat.end();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

class Heartbeat {
  readonly lost = new AbortController();
  readonly #coordinator: Coordinator;
  readonly #clock: Clock;
  readonly #log: Logger;
  #lease: Lease;
  readonly #ending = new AbortController();
  readonly #done: Promise<void>;

  constructor(coordinator: Coordinator, lease: Lease, clock: Clock, log: Logger) {
    this.#coordinator = coordinator;
    this.#lease = lease;
    this.#clock = clock;
    this.#log = log;
    this.#done = this.#run();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#done;
    if (this.lost.signal.aborted) return;
    await this.#coordinator
      .release(this.#lease)
      .catch(() => this.#log.warn('could not release the engine lease; it will expire'));
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(RENEW_INTERVAL, this.#ending.signal);
      if (this.#ending.signal.aborted) return;
      try {
        if (await this.#renew()) continue;
        this.#log.error('engine lease lost: another process runs the pipelines of this database; stopping');
        this.lost.abort();
        return;
      } catch {
        // Without the database, pushed records are still stored and cursor commits wait. The next
        // renewal after the database is back shows which process holds the lease.
        this.#log.warn('could not renew the engine lease; retrying');
      }
    }
  }

  async #renew(): Promise<boolean> {
    const coordinator = this.#coordinator;
    const lease = this.#lease;
    const longer = await coordinator.renew(lease, LEASE_TTL);
    // The lease may have expired while the machine was suspended. If no other process held it in
    // the meantime, it can be acquired again without consequences.
    const next = longer ?? (await coordinator.acquire(ENGINE, lease.holder, LEASE_TTL));
    if (!next) return false;
    this.#lease = next;
    return next.token <= lease.token + 1;
  }
}

/**
 * Returns the engine's name. It is stored in the folder, with the name of the database that the
 * buffers in the folder belong to.
 */
async function identify(folder: string, state: EngineState): Promise<string> {
  const database = await databaseName(state);
  const path = join(folder, 'engine.json');
  const known = await readIdentity(path);
  if (!known) {
    const holder = `${hostname().replaceAll(/[^\w.-]/g, '')}-${randomUUID()}`;
    await replaceFile(path, JSON.stringify({ engine: holder, database }));
    return holder;
  }
  if (known.database === database) return known.engine;
  throw new EngineInUseError(
    `${folder} contains the buffered records of another database. Set DATA_DIR to another folder.`,
  );
}

async function readIdentity(path: string): Promise<{ engine: string; database: string } | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const known: unknown = JSON.parse(text);
  if (isRecord(known) && typeof known['engine'] === 'string' && typeof known['database'] === 'string')
    return { engine: known['engine'], database: known['database'] };
  throw new EngineInUseError(
    `${path} is not a valid engine identity file. Restore it, or set DATA_DIR to an empty folder.`,
  );
}

async function databaseName(state: EngineState): Promise<string> {
  await state.compareAndSet(DATABASE, 0, randomUUID());
  const stored = await state.get(DATABASE);
  return typeof stored?.value === 'string' ? stored.value : '';
}

function inUse(holder: Lease | undefined, now: number): EngineInUseError {
  const seconds = Math.ceil(Math.max(0, (holder?.expiresAt ?? now) - now) / 1_000);
  return new EngineInUseError(
    `Another process runs the pipelines of this database: ${holder?.holder ?? 'it has just started'}. Set ENGINE=off here, so that this replica only serves the API. If that process is gone permanently, start again in ${seconds} seconds.`,
  );
}
