import type { Clock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import { describeError } from '../../describe-error.js';
import { MEMBER_TTL, type Assignment, type EngineMembers } from '../../store/engine-members.js';

/** Milliseconds between renewals. A takeover takes at most this, `MEMBER_TTL` and one attempt. */
const RENEW_MS = 1_500;
/** Milliseconds to wait for the statements of one renewal. */
const TIMEOUT_MS = 2_500;

export interface AssignmentsOptions {
  memberId: string;
  members: EngineMembers;
  /** Default true. Otherwise this member only prevents a single engine (`ENGINE=on`) from starting. */
  takesPipelines?: boolean;
  clock: Clock;
  log: Logger;
  /** Called when pipelines were assigned to this process or lost. */
  onChange: (pipelineId: string) => void;
  /** Lets another process have a pipeline: resolves once it is released. Never rejects. */
  handOver: (pipelineId: string) => Promise<void>;
  /** Tells the other members that there are free pipelines or another number of members. */
  notify: () => void;
}

/**
 * The pipelines that this process runs. It renews its membership, takes its share of free pipelines,
 * and hands over what it has too many. The share of each member is the number of pipelines divided by
 * the number of members.
 */
export class Assignments {
  readonly #options: AssignmentsOptions;
  readonly #held = new Map<string, number>();
  readonly #handingOver = new Set<string>();
  /** Tokens of leases that this process has released: an earlier response may still contain them. */
  readonly #released = new Map<string, number>();
  #isLeaving: boolean;
  /** When the last successful renewal was requested, by `performance.now()`. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #members = 0;
  #wake = new AbortController();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: AssignmentsOptions) {
    this.#options = options;
    this.#isLeaving = options.takesPipelines === false;
  }

  /** Joins, and keeps the membership until `close`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Looks for free pipelines now. */
  wake(): void {
    this.#wake.abort();
  }

  /** Returns the fencing token of a pipeline that this process runs. */
  tokenOf(pipelineId: string): number | undefined {
    // Another process may run it by now.
    if (this.unconfirmedMs() >= MEMBER_TTL) return undefined;
    return this.#held.get(pipelineId);
  }

  /** Whether a pipeline may start here: it is assigned, and not being handed over. */
  mayBegin(pipelineId: string): boolean {
    return this.tokenOf(pipelineId) !== undefined && !this.#handingOver.has(pipelineId);
  }

  /** Milliseconds since the last renewal, on a clock that never jumps. */
  unconfirmedMs(): number {
    return performance.now() - this.#confirmedAt;
  }

  /** Releases the lease of a pipeline. */
  async release(pipelineId: string): Promise<void> {
    const token = this.#held.get(pipelineId);
    if (token === undefined) return;
    this.#held.delete(pipelineId);
    this.#released.set(pipelineId, token);
    const { members, memberId, notify } = this.#options;
    await members.release(memberId, [{ pipelineId, token }]);
    notify();
  }

  /** Takes no more pipelines, so that others take what is released from now on. Never rejects. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    const { members, memberId, notify, log } = this.#options;
    await members
      .renew(memberId, MEMBER_TTL, true)
      .catch(() => log.warn('could not announce that this process leaves the shared engine'));
    notify();
  }

  /** Leaves: what was not released is free for others. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.wake();
    await this.#running;
    this.#held.clear();
    const { members, memberId, notify, log } = this.#options;
    await members.leave(memberId).catch(() => log.warn('could not leave the shared engine; the membership expires'));
    notify();
  }

  async #run(): Promise<void> {
    const { clock, notify } = this.#options;
    for (let isFirst = true; !this.#closing.signal.aborted;) {
      this.#wake = new AbortController();
      try {
        await this.#renew();
        if (isFirst) notify();
        isFirst = false;
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed)
          this.#options.log.warn(
            { problem: describeError(error) },
            'could not renew the membership of the shared engine; retrying',
          );
        this.#hasFailed = true;
      }
      this.#loseExpired();
      await clock.sleep(
        this.#hasFailed ? RENEW_MS / 3 : RENEW_MS,
        AbortSignal.any([this.#wake.signal, this.#closing.signal]),
      );
    }
  }

  async #renew(): Promise<void> {
    const { members, memberId } = this.#options;
    const requestedAt = performance.now();
    const membership = await this.#inTime(members.renew(memberId, MEMBER_TTL, this.#isLeaving));
    if (!membership) throw new Error('Another engine runs the pipelines of this database by itself.');
    const { members: all, pipelines, assigned } = membership;
    this.#confirmedAt = requestedAt;
    if (all.length !== this.#members) {
      this.#options.log.info({ members: all.length }, 'members of the shared engine changed');
      this.#members = all.length;
    }
    await this.#apply(assigned);
    if (this.#isLeaving) return;
    const rank = all.indexOf(memberId);
    const share = Math.floor(pipelines / all.length) + (rank < pipelines % all.length ? 1 : 0);
    const mine = [...this.#held.keys()].filter((id) => !this.#handingOver.has(id)).length;
    if (mine > share) this.#handOver(mine - share);
    if (mine >= share) return;
    const acquired = await this.#inTime(members.acquire(memberId, share - mine));
    for (const { pipelineId, token } of acquired) {
      this.#held.set(pipelineId, token);
      this.#options.onChange(pipelineId);
    }
  }

  /** Applies what the database knows: others may have acquired leases after a pause of this process. */
  async #apply(assigned: readonly Assignment[]): Promise<void> {
    const isReleased = ({ pipelineId, token }: Assignment): boolean => this.#released.get(pipelineId) === token;
    const now = new Map(
      assigned.filter((each) => !isReleased(each)).map(({ pipelineId, token }) => [pipelineId, token]),
    );
    for (const [id, token] of this.#held)
      if (now.get(id) !== token) {
        this.#held.delete(id);
        this.#options.onChange(id);
      }
    for (const [id, token] of now)
      if (!this.#held.has(id) && !this.#handingOver.has(id)) {
        this.#held.set(id, token);
        this.#options.onChange(id);
      }
    // The release of some may have failed.
    const left = assigned.filter(isReleased);
    const { members, memberId } = this.#options;
    if (left.length > 0) await this.#inTime(members.release(memberId, left));
  }

  #handOver(count: number): void {
    const surplus = [...this.#held.keys()].filter((id) => !this.#handingOver.has(id)).slice(-count);
    for (const id of surplus) {
      this.#handingOver.add(id);
      void this.#handOverOne(id);
    }
  }

  async #handOverOne(id: string): Promise<void> {
    await this.#options.handOver(id);
    // Without a runner, nothing has released it. If this fails, the next renewal releases it.
    await this.release(id).catch(() => undefined);
    this.#handingOver.delete(id);
  }

  #loseExpired(): void {
    if (this.unconfirmedMs() < MEMBER_TTL || this.#held.size === 0) return;
    const lost = [...this.#held.keys()];
    this.#held.clear();
    this.#options.log.error(
      { pipelines: lost.length },
      'membership of the shared engine expired; other processes may run the pipelines',
    );
    for (const id of lost) this.#options.onChange(id);
  }

  /** One connection that does not respond must not use up the time of the lease. */
  async #inTime<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('The database did not respond in time.')), TIMEOUT_MS);
    });
    try {
      return await Promise.race([work, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
