import type { Clock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import { describeError } from '../../describe-error.js';
import type { EngineLeases } from '../../store/engine-leases.js';
import { LEASE_TTL } from '../running/engine-lease.js';

/** Work of the one member that leads. */
export interface Leadership {
  /** Ends it. Never rejects. */
  end(): Promise<void>;
}

export interface LeaderOptions {
  /** Name of this process in the lease. */
  holder: string;
  leases: EngineLeases;
  clock: Clock;
  log: Logger;
  /** @param epoch fencing token of the engine's lease */
  lead: (epoch: number) => Leadership;
}

/** Milliseconds between attempts and renewals. */
const INTERVAL = 3_000;

/**
 * Elects the member that does what only one process of a database may do, by the lease that a
 * single engine holds.
 */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #closing = new AbortController();
  #current: { epoch: number; leadership: Leadership; confirmedAt: number } | undefined;
  #running: Promise<void> | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Whether this process leads. */
  get isLeading(): boolean {
    return this.#current !== undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    const epoch = this.#current?.epoch;
    await this.#end();
    if (epoch !== undefined) await this.#options.leases.release(epoch).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#look();
      } catch (error) {
        log.debug({ problem: describeError(error) }, 'could not renew or acquire the lease of the leader');
      }
      if (this.#current && performance.now() - this.#current.confirmedAt > LEASE_TTL) await this.#end();
      await clock.sleep(INTERVAL, this.#closing.signal);
    }
  }

  async #look(): Promise<void> {
    const { leases, holder, lead, log } = this.#options;
    const requestedAt = performance.now();
    const current = this.#current;
    if (current) {
      if (await leases.renew(current.epoch, LEASE_TTL)) current.confirmedAt = requestedAt;
      else await this.#end();
      return;
    }
    const epoch = await leases.acquire(holder, LEASE_TTL);
    if (epoch === undefined || this.#closing.signal.aborted) return;
    log.info('this process leads the shared engine');
    this.#current = { epoch, leadership: lead(epoch), confirmedAt: requestedAt };
  }

  async #end(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.leadership.end();
  }
}
