import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Meter } from '@connector-frame/engine';
import type { DaySum, Usage, UsageNode } from '../store/usage.js';
import type { UsageBatch, UsageWriter } from '../store/usage-writer.js';
import { minuteOf } from './periods.js';
import { UsageSegment, type UsageEntry } from './usage-segment.js';

export interface UsageMeterOptions {
  /** Folder of the journals. */
  folder: string;
  /** Identifies the engine. */
  holder: string;
  writer: UsageWriter;
  usage: Pick<Usage, 'days'>;
  /** Milliseconds since the epoch. */
  now: () => number;
  dueAt?: UsageBatch['dueAt'];
  /** Called when the journal can't be written; each further failure is only called once it worked. */
  onFailure: (error: unknown) => void;
}

/** Milliseconds after which `flush` notes that nothing was counted. */
const TOUCH = 60_000;

/** What an organization may still use before `onUsedUp` is called, in bytes. */
interface Allowance {
  ingress: number;
  egress: number;
}

/**
 * Counts what the pipelines of this process receive and deliver, by node and minute, for longer than
 * the pipelines live.
 *
 * Amounts of senders are in a journal on disk before the sender gets the response. Amounts of outputs are
 * written at the end of the turn of the event loop, so a kill loses at most one batch of an output. `flush` adds it to the
 * database: as numbered batches, of which the database adds each once.
 */
export class UsageMeter {
  /** Called when an organization has used up what `allow` gave it. */
  onUsedUp: (organizationId: string) => void = () => undefined;
  readonly #options: UsageMeterOptions;
  /** Batches that are not added yet, oldest first. */
  readonly #sealed: UsageSegment[] = [];
  #current: UsageSegment;
  readonly #allowances = new Map<string, Allowance>();
  /** Sums in the database of watched organizations, by organization and day. */
  readonly #stored = new Map<string, Map<number, DaySum>>();
  #sealedAt = 0;
  #writtenAt = 0;
  #isFailing = false;
  /** Whether a write is scheduled: at the end of this step, or of this turn of the event loop. */
  #isDue = false;
  #isDueLater = false;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(options: UsageMeterOptions, lastSequence: number) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    let last = lastSequence;
    for (const name of readdirSync(options.folder).toSorted()) {
      const path = join(options.folder, name);
      const sequence = Number(/^(\d+)\.ndjson$/.exec(name)?.[1]);
      // A journal that was being rewritten, or whose batch was added before the kill.
      if (Number.isNaN(sequence) || sequence <= lastSequence) {
        rmSync(path, { force: true });
        continue;
      }
      this.#sealed.push(UsageSegment.read(sequence, path));
      last = sequence;
    }
    this.#sealedAt = options.now();
    this.#current = this.#segment(last + 1);
  }

  /**
   * Continues with the journals of earlier processes.
   * @throws errors of the database and of the disk
   */
  static async open(options: UsageMeterOptions): Promise<UsageMeter> {
    return new UsageMeter(options, await options.writer.lastSequence(options.holder));
  }

  /** Returns the meter of a pipeline. Nodes that are not in `nodes` are not metered. */
  of(nodes: ReadonlyMap<string, UsageNode>): Meter {
    const meters = new Map([...nodes].map(([id, node]) => [id, new NodeMeter(node)]));
    /** Returns the entry that something is added to. */
    const entryOf = (id: string): UsageEntry | undefined => {
      const entry = meters.get(id)?.entry(this.#current, minuteOf(this.#options.now()));
      if (entry) this.#current.changed(entry);
      return entry;
    };
    return {
      add: (id, direction, records, bytes) => {
        const entry = entryOf(id);
        if (!entry) return;
        const { amounts, day, node } = entry;
        if (direction === 'ingress') {
          amounts.ingressRecords += records;
          amounts.ingressBytes += bytes;
        } else {
          amounts.egressRecords += records;
          amounts.egressBytes += bytes;
        }
        const isReceived = direction === 'ingress' && node.componentType === 'input';
        const isDelivered = direction === 'egress' && node.componentType === 'output';
        if (isReceived) day.ingressBytes += bytes;
        if (isDelivered) day.egressBytes += bytes;
        if (isReceived || isDelivered) this.#use(node.organizationId, direction, bytes);
        // The response to the sender follows.
        if (isReceived) this.#writeSoon();
        else this.#writeLater();
      },
      addErrors: (id, records) => {
        const entry = entryOf(id);
        if (!entry) return;
        entry.amounts.errors += records;
        this.#writeLater();
      },
      addUnfiltered: (id, records, bytes) => {
        const entry = entryOf(id);
        if (!entry) return;
        entry.amounts.unfilteredRecords += records;
        entry.amounts.unfilteredBytes += bytes;
        this.#writeLater();
      },
    };
  }

  /**
   * Makes `used` know these organizations, from day `from` on.
   * @throws errors of the database
   */
  watch(organizationIds: readonly string[], from: number): Promise<void> {
    // Not during a flush, which would count what it adds twice, or not at all.
    return this.#serialize(async () => {
      // It is unknown whether the database has a batch whose flush has failed.
      if (this.#sealed.length > 0) await this.#flush();
      const sums = await this.#options.usage.days(organizationIds, from);
      this.#stored.clear();
      for (const id of organizationIds) this.#stored.set(id, new Map());
      this.#store(sums);
    });
  }

  /**
   * Returns what a watched organization has received or delivered, up to now.
   * @param from first day, in days since 1970; `to` is the last one
   */
  used(organizationId: string, direction: 'ingress' | 'egress', from: number, to: number): number {
    const key = direction === 'ingress' ? 'ingressBytes' : 'egressBytes';
    let sum = 0;
    const add = (days: Iterable<DaySum>): void => {
      for (const each of days) if (each.day >= from && each.day <= to) sum += each[key];
    };
    add(this.#stored.get(organizationId)?.values() ?? []);
    for (const segment of this.#sealed) add(segment.days(organizationId));
    add(this.#current.days(organizationId));
    return sum;
  }

  /** Sets after how many bytes `onUsedUp` is called, by organization. Others are not limited. */
  allow(allowances: ReadonlyMap<string, Readonly<Allowance>>): void {
    this.#allowances.clear();
    for (const [id, allowance] of allowances) this.#allowances.set(id, { ...allowance });
  }

  /**
   * Adds what was counted to the database.
   * @throws errors of the database; the next call tries again
   */
  flush(): Promise<void> {
    return this.#serialize(() => this.#flush());
  }

  /** Closes the journals. What was not flushed is flushed by the next process with this folder. */
  close(): void {
    this.#write();
    for (const segment of [...this.#sealed, this.#current]) segment.close();
  }

  async #flush(): Promise<void> {
    const { writer, holder, dueAt, now } = this.#options;
    if (this.#sealed.length === 0) {
      if (this.#current.isEmpty) return this.#touch();
      this.#write();
      this.#sealedAt = now();
      this.#sealed.push(this.#current);
      this.#current = this.#segment(this.#current.sequence + 1);
    }
    for (let segment = this.#sealed[0]; segment; segment = this.#sealed[0]) {
      const { sequence, rows } = segment;
      const batch = { holder, sequence, at: new Date(this.#sealedAt), rows, ...(dueAt && { dueAt }) };
      const sums = await writer.add(batch);
      // At once: until now the sums were those of the segment, from now on those of the database.
      this.#store(sums);
      this.#sealed.shift();
      this.#writtenAt = now();
      segment.remove();
    }
  }

  async #touch(): Promise<void> {
    const { writer, holder, now } = this.#options;
    const time = now();
    if (Math.abs(time - this.#writtenAt) < TOUCH) return;
    await writer.touch(holder, new Date(time));
    this.#writtenAt = time;
  }

  #store(sums: readonly DaySum[]): void {
    for (const sum of sums) this.#stored.get(sum.organizationId)?.set(sum.day, sum);
  }

  #use(organizationId: string, direction: 'ingress' | 'egress', bytes: number): void {
    const allowance = this.#allowances.get(organizationId);
    if (!allowance) return;
    const before = allowance[direction];
    allowance[direction] -= bytes;
    if (before > 0 && allowance[direction] <= 0) queueMicrotask(() => this.onUsedUp(organizationId));
  }

  /** Writes in a microtask: after all amounts of this step, before the code that awaits it. */
  #writeSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => this.#write());
  }

  /** Writes at the end of this turn of the event loop, or earlier together with `#writeSoon`. */
  #writeLater(): void {
    if (this.#isDue || this.#isDueLater) return;
    this.#isDueLater = true;
    setImmediate(() => {
      this.#isDueLater = false;
      this.#write();
    });
  }

  #write(): void {
    this.#isDue = false;
    try {
      this.#current.write();
      this.#isFailing = false;
    } catch (error) {
      // The amounts are in memory; the next write has them.
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
  }

  #segment(sequence: number): UsageSegment {
    const path = join(this.#options.folder, `${String(sequence).padStart(16, '0')}.ndjson`);
    return new UsageSegment(sequence, path);
  }

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Finds the entry of one node without a search, while neither the minute nor the segment changes. */
class NodeMeter {
  readonly #node: UsageNode;
  #segment: UsageSegment | undefined;
  #entry: UsageEntry | undefined;

  constructor(node: UsageNode) {
    this.#node = node;
  }

  entry(segment: UsageSegment, minute: number): UsageEntry {
    if (this.#entry?.minute !== minute || this.#segment !== segment) {
      this.#segment = segment;
      this.#entry = segment.entry(this.#node, minute);
    }
    return this.#entry;
  }
}
