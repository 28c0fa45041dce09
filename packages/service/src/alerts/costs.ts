import type { CurrentCost } from '../billing/current-cost.js';

/** Milliseconds until a cost is read again: it is a sum over the usage of a month. */
const MAX_AGE_MS = 60_000;

interface Known {
  readAt: number;
  cost: CurrentCost;
}

/** The costs of the organizations that have a rule about them, each read at most once a minute. */
export class Costs {
  readonly #read: (organizationId: string, now: number) => Promise<CurrentCost>;
  #known = new Map<string, Known>();

  constructor(read: (organizationId: string, now: number) => Promise<CurrentCost>) {
    this.#read = read;
  }

  /** Returns the costs of organizations by ID, and forgets all others. */
  async of(organizationIds: ReadonlySet<string>, now: number): Promise<ReadonlyMap<string, CurrentCost>> {
    const found = new Map<string, Known>();
    for (const id of organizationIds) {
      const known = this.#known.get(id);
      found.set(id, known && isCurrent(known, now) ? known : { readAt: now, cost: await this.#read(id, now) });
    }
    this.#known = found;
    return new Map(Array.from(found, ([id, { cost }]) => [id, cost]));
  }
}

/** Returns whether a cost need not be read again. It must be after the clock was set, back or ahead. */
const isCurrent = ({ readAt, cost: { period } }: Known, now: number): boolean =>
  Math.abs(now - readAt) < MAX_AGE_MS && period.start <= now && now < period.end;
