import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import type { Clock } from './clock.js';

export interface LeaseKeeperOptions {
  coordinator: Pick<Coordinator, 'acquire' | 'renew'>;
  pipelineId: string;
  /** Names this process among all that share the coordinator. */
  holder: string;
  clock: Clock;
  /** Milliseconds. */
  ttl: number;
  /** It is held from now on. */
  taken(): Promise<void>;
  /** It is not held any more. */
  lost(): void;
}

/** The lease of one pipeline: taken when it is free, renewed in time. */
export class LeaseKeeper {
  #lease: Lease | undefined;

  constructor(private readonly options: LeaseKeeperOptions) {}

  /** While it is held. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Takes or renews it where that is due. `undefined`: somebody else has it. */
  async hold(): Promise<Lease | undefined> {
    const { coordinator, pipelineId, holder, clock, ttl } = this.options;
    const before = this.#lease;
    if (before && before.expiresAt - clock.now() > ttl * 0.6) return before;
    const lease = before ? await coordinator.renew(before, ttl) : await coordinator.acquire(pipelineId, holder, ttl);
    if (before && !lease) this.lose();
    else this.#lease = lease;
    if (!before && lease) await this.options.taken();
    return this.#lease;
  }

  lose(): void {
    this.#lease = undefined;
    this.options.lost();
  }

  /** For when it could not be renewed: somebody else may have it by now. */
  loseExpired(): void {
    if (this.#lease && this.#lease.expiresAt <= this.options.clock.now()) this.lose();
  }

  /** Hands it to the caller, who gives it back. */
  letGo(): Lease | undefined {
    const lease = this.#lease;
    this.#lease = undefined;
    return lease;
  }
}
