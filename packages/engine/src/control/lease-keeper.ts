import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import type { Clock } from '../connector-api/clock.js';

export interface LeaseKeeperOptions {
  coordinator: Pick<Coordinator, 'acquire' | 'renew'>;
  pipelineId: string;
  /** Identifies this process among all that share the coordinator. */
  holder: string;
  clock: Clock;
  /** Lifetime of the lease in milliseconds. */
  ttl: number;
  /** Called after the lease was acquired. */
  onAcquired(): Promise<void>;
  /** Called after the lease was lost. */
  onLost(): void;
}

/** Acquires the lease of one pipeline and renews it in time. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #lease: Lease | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** The lease while it is held. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Acquires or renews the lease if due. Returns `undefined` if another worker holds it. */
  async hold(): Promise<Lease | undefined> {
    const { coordinator, pipelineId, holder, clock, ttl } = this.#options;
    const before = this.#lease;
    if (before && before.expiresAt - clock.now() > ttl * 0.6) return before;
    const lease = before ? await coordinator.renew(before, ttl) : await coordinator.acquire(pipelineId, holder, ttl);
    if (before && !lease) this.lose();
    else this.#lease = lease;
    if (!before && lease) await this.#begin();
    return this.#lease;
  }

  async #begin(): Promise<void> {
    try {
      await this.#options.onAcquired();
    } catch (error) {
      // The next attempt acquires it again, so that nothing runs half prepared.
      this.#lease = undefined;
      throw error;
    }
  }

  lose(): void {
    this.#lease = undefined;
    this.#options.onLost();
  }

  /** Gives up an expired lease that could not be renewed: another worker may hold it by now. */
  loseExpired(): void {
    if (this.#lease && this.#lease.expiresAt <= this.#options.clock.now()) this.lose();
  }

  /** Transfers the lease to the caller, which must release it. */
  detach(): Lease | undefined {
    const lease = this.#lease;
    this.#lease = undefined;
    return lease;
  }
}
