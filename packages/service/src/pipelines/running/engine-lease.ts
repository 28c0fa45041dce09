import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isRecord, replaceFile, type Clock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import { MEMBER_TTL } from '../../store/engine-members.js';
import { SHARED, type EngineLeases, type HeldLease } from '../../store/engine-leases.js';
import type { EngineState } from '../../store/engine-state.js';
import { lockFolder, type LockMessages } from '../../store/folder-lock.js';
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
  /** Identifies the database. */
  readonly database: string;
  /** Fencing token: increases with every process that acquires the lease. */
  readonly epoch: number;
  /** Aborted when another process has acquired the lease. */
  readonly lost: AbortSignal;
  /** Reports that another process has acquired the lease: a write was rejected. */
  lose(): void;
  /**
   * Milliseconds since the start of the last successful renewal, on a clock that never jumps. After
   * `LEASE_TTL`, another process may have acquired the lease.
   */
  unconfirmedMs(): number;
  release(): Promise<void>;
}

/** Row of the name of the database. */
export const DATABASE_KEY = 'meta:database/';
/** File in the engine's folder with the names of the engine and of its database. */
const IDENTITY = 'engine.json';
/**
 * Lease TTL in milliseconds. After this time, a process with another folder can take over from one
 * that was killed.
 */
export const LEASE_TTL = 15_000;
/** Intervals in milliseconds: between renewals, and after a failed one. */
const RENEW_INTERVAL = 5_000;
const RETRY_INTERVAL = 1_000;
/**
 * Milliseconds to wait for one renewal. One connection that does not respond must not use up the
 * lease; the next attempt uses another connection.
 */
const RENEW_TIMEOUT = 4_000;

export interface EngineLeaseOptions {
  folder: string;
  state: EngineState;
  leases: EngineLeases;
  clock: Clock;
  log: Logger;
  /** Wording of the error if another process has the folder. */
  lockMessages?: LockMessages;
}

const ENGINE_FOLDER: LockMessages = {
  what: 'The folder of the engine',
  advice: 'Stop it first, choose another DATA_DIR, or set ENGINE=off for a replica that runs no pipelines.',
};

/**
 * Acquires a folder and a database for this process, and holds them until `release`.
 * @throws FolderInUseError, EngineInUseError
 */
export async function acquireEngineLease(options: EngineLeaseOptions): Promise<EngineLease> {
  const { folder, state, leases, lockMessages = ENGINE_FOLDER } = options;
  const lock = await lockFolder(folder, lockMessages);
  try {
    const { holder, database } = await identify(folder, state);
    const requestedAt = performance.now();
    const epoch = await leases.acquire(holder, LEASE_TTL);
    if (epoch === undefined) throw inUse(await leases.current());
    // The lease is free while the members of a shared engine elect their leader.
    const member = await leases.memberBeside(holder);
    if (member !== undefined) {
      await leases.release(epoch);
      throw inUse({ holder: SHARED + member, remainingMs: MEMBER_TTL });
    }
    const heartbeat = new Heartbeat(epoch, requestedAt, options);
    return {
      holder,
      database,
      epoch,
      lost: heartbeat.lost.signal,
      lose: () => heartbeat.lose(),
      unconfirmedMs: () => performance.now() - heartbeat.confirmedAt,
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
  /** When the last successful renewal was requested, by `performance.now()`. */
  confirmedAt: number;
  readonly #epoch: number;
  readonly #options: EngineLeaseOptions;
  readonly #ending = new AbortController();
  readonly #done: Promise<void>;

  constructor(epoch: number, requestedAt: number, options: EngineLeaseOptions) {
    this.#epoch = epoch;
    this.confirmedAt = requestedAt;
    this.#options = options;
    this.#done = this.#run();
  }

  lose(): void {
    if (this.lost.signal.aborted) return;
    this.#options.log.error('engine lease lost: another process runs the pipelines of this database; stopping');
    this.lost.abort();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#done;
    if (this.lost.signal.aborted) return;
    await this.#options.leases
      .release(this.#epoch)
      .catch(() => this.#options.log.warn('could not release the engine lease; it will expire'));
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    for (let failures = 0; ;) {
      await clock.sleep(failures > 0 ? RETRY_INTERVAL : RENEW_INTERVAL, this.#ending.signal);
      if (this.#ending.signal.aborted || this.lost.signal.aborted) return;
      const requestedAt = performance.now();
      const renewed = await this.#renew();
      if (renewed === false) return this.lose();
      if (renewed) {
        this.confirmedAt = requestedAt;
        if (failures > 0) log.info('engine lease renewed: the database responds again');
        failures = 0;
        continue;
      }
      // Without the database, no process can acquire the lease. Pushed records are still stored and
      // delivered, and cursor commits wait. The next renewal, or the first write, shows which
      // process holds the lease.
      failures += 1;
      if (failures === 1) log.warn('could not renew the engine lease; retrying');
    }
  }

  /** Returns whether the lease is held, or `undefined` if the database did not respond. */
  async #renew(): Promise<boolean | undefined> {
    const over = new AbortController();
    const timeout = this.#options.clock.sleep(RENEW_TIMEOUT, over.signal).then(() => undefined);
    const renewal = this.#options.leases.renew(this.#epoch, LEASE_TTL).catch(() => undefined);
    const renewed = await Promise.race([renewal, timeout]);
    over.abort();
    return renewed;
  }
}

/**
 * Returns the engine's name. It is stored in the folder, with the name of the database that the
 * buffers in the folder belong to.
 */
export async function identify(folder: string, state: EngineState): Promise<Pick<EngineLease, 'holder' | 'database'>> {
  const database = await databaseName(state);
  const known = await readEngineIdentity(folder);
  if (!known) {
    const holder = `${hostname().replaceAll(/[^\w.-]/g, '')}-${randomUUID()}`;
    await writeEngineIdentity(folder, { engine: holder, database });
    return { holder, database };
  }
  if (known.database === database) return { holder: known.engine, database };
  throw new EngineInUseError(
    `${folder} contains the buffered records of another database. Set DATA_DIR to another folder.`,
  );
}

/** Name of the engine of a folder, and of the database that its buffers belong to. */
export interface EngineIdentity {
  engine: string;
  database: string;
}

export const writeEngineIdentity = (folder: string, { engine, database }: EngineIdentity): Promise<void> =>
  replaceFile(join(folder, IDENTITY), JSON.stringify({ engine, database }));

/**
 * Returns `undefined` for a folder that no engine has used.
 * @throws EngineInUseError when the file is not valid
 */
export async function readEngineIdentity(folder: string): Promise<EngineIdentity | undefined> {
  const path = join(folder, IDENTITY);
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
  await state.compareAndSet(DATABASE_KEY, 0, randomUUID());
  const stored = await state.get(DATABASE_KEY);
  return typeof stored?.value === 'string' ? stored.value : '';
}

function inUse(current: HeldLease | undefined): EngineInUseError {
  const seconds = Math.ceil((current?.remainingMs ?? 0) / 1_000);
  const isShared = current?.holder.startsWith(SHARED) === true;
  const who = current?.holder.slice(isShared ? SHARED.length : 0) ?? 'it has just started';
  const advice = isShared
    ? 'Set ENGINE=shared here, to run them together'
    : 'Set ENGINE=off here, so that this replica only serves the API';
  return new EngineInUseError(
    `Another process runs the pipelines of this database: ${who}. ${advice}. If that process is gone permanently, start again in ${seconds} seconds.`,
  );
}
