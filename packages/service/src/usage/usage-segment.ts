import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import type { UsageNode, DaySum } from '../store/usage.js';
import type { UsageAmounts } from '../store/tables.js';
import { keyOf, type UsageRow } from '../store/usage-writer.js';
import { DAY, MINUTE } from './periods.js';

/** Bytes of a journal after which it is rewritten, which happens while the database is away. */
const MAX_BYTES = 1024 * 1024;

const MINUTES_PER_DAY = DAY / MINUTE;

/** Amounts of a node in one minute, which the journal has or not. */
export interface UsageEntry extends UsageRow {
  /** Sums of its organization and day. */
  readonly day: DaySum;
  /** Number of its node in the journal. */
  readonly number: number;
  isDirty: boolean;
}

/**
 * Amounts that are added to the database as one batch, and their journal: a file that survives a kill
 * of the process. A line has the amounts of a node in a minute up to then, so only the last one counts,
 * and a line that was lost is made up for by the next one.
 */
export class UsageSegment {
  readonly sequence: number;
  readonly #path: string;
  readonly #entries = new Map<string, UsageEntry>();
  /** Sums by organization and day. */
  readonly #days = new Map<string, Map<number, DaySum>>();
  /** Nodes and their numbers in the journal, by the keys of their series. */
  readonly #nodes = new Map<string, { node: UsageNode; number: number }>();
  #dirty: UsageEntry[] = [];
  /** Text of nodes that the journal lacks. */
  #unwritten = '';
  #file: number | undefined;
  #bytes = 0;
  #maxBytes = MAX_BYTES;
  /** The last write may have left a part of a line. */
  #isTorn = false;

  constructor(sequence: number, path: string) {
    this.sequence = sequence;
    this.#path = path;
  }

  /** Reads the journal of an earlier process. Skips lines that a crash has left incomplete. */
  static read(sequence: number, path: string): UsageSegment {
    const segment = new UsageSegment(sequence, path);
    const nodes = new Map<number, UsageNode>();
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const value = parse(line);
      if (!Array.isArray(value)) continue;
      const [number, second, ...amounts]: unknown[] = value;
      if (typeof number !== 'number') continue;
      if (typeof second === 'object' && second !== null) nodes.set(number, nodeIn(second));
      const node = nodes.get(number);
      if (typeof second === 'number' && node) segment.#restore(node, second, amounts.map(Number));
    }
    return segment;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** All amounts. */
  get rows(): UsageRow[] {
    return [...this.#entries.values()].map(({ node, minute, amounts }) => ({ node, minute, amounts }));
  }

  /** Returns what an organization received and delivered, one sum for each day with usage. */
  days(organizationId: string): Iterable<DaySum> {
    return this.#days.get(organizationId)?.values() ?? [];
  }

  /** Returns the entry of a node and a minute. The caller adds to its amounts, then calls `changed`. */
  entry(given: UsageNode, minute: number): UsageEntry {
    const { node, number } = this.#known(given);
    const key = `${number} ${minute}`;
    const known = this.#entries.get(key);
    if (known) return known;
    const { organizationId } = node;
    const day = Math.floor(minute / MINUTES_PER_DAY);
    const days = this.#days.get(organizationId) ?? new Map<number, DaySum>();
    this.#days.set(organizationId, days);
    const sum = days.get(day) ?? { organizationId, day, ingressBytes: 0, egressBytes: 0 };
    days.set(day, sum);
    const entry = { node, minute, amounts: noAmounts(), day: sum, number, isDirty: false };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Notes that the journal lacks the amounts of an entry. */
  changed(entry: UsageEntry): void {
    if (entry.isDirty) return;
    entry.isDirty = true;
    this.#dirty.push(entry);
  }

  /**
   * Writes what the journal lacks. It is not synced to disk: a kill of the process loses nothing, a
   * power failure does.
   * @throws errors of the disk; the next call tries again
   */
  write(): void {
    if (this.#dirty.length === 0) return;
    let text = this.#isTorn ? `\n${this.#unwritten}` : this.#unwritten;
    for (const entry of this.#dirty) text += lineOf(entry);
    this.#file ??= openSync(this.#path, 'a', 0o600);
    this.#isTorn = true;
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
    this.#isTorn = false;
    for (const entry of this.#dirty) entry.isDirty = false;
    this.#dirty = [];
    this.#unwritten = '';
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) this.#rewrite();
  }

  /** Closes the journal; `remove` also deletes it. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  remove(): void {
    this.close();
    rmSync(this.#path, { force: true });
  }

  /** Replaces the journal by one with one line per entry. */
  #rewrite(): void {
    const nodes = [...this.#nodes.values()].map(nodeLine);
    const text = `${nodes.join('')}${[...this.#entries.values()].map(lineOf).join('')}`;
    writeFileSync(`${this.#path}.new`, text, { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
    this.close();
    this.#bytes = Buffer.byteLength(text);
    this.#maxBytes = Math.max(MAX_BYTES, 2 * this.#bytes);
  }

  #known(node: UsageNode): { node: UsageNode; number: number } {
    const key = keyOf(node);
    const known = this.#nodes.get(key);
    if (known) return known;
    const made = { node, number: this.#nodes.size };
    this.#nodes.set(key, made);
    this.#unwritten += nodeLine(made);
    return made;
  }

  #restore(node: UsageNode, minute: number, values: readonly number[]): void {
    if (!values.every(Number.isSafeInteger)) return;
    const { amounts, day } = this.entry(node, minute);
    const before = { ...amounts };
    for (const [index, key] of KEYS.entries()) amounts[key] = values[index] ?? 0;
    if (node.componentType === 'input') day.ingressBytes += amounts.ingressBytes - before.ingressBytes;
    if (node.componentType === 'output') day.egressBytes += amounts.egressBytes - before.egressBytes;
  }
}

/** The amounts in the order of a line. A later release may only append to it. */
const KEYS = [
  'ingressBytes',
  'ingressRecords',
  'egressBytes',
  'egressRecords',
  'errors',
  'unfilteredBytes',
  'unfilteredRecords',
] as const satisfies readonly (keyof UsageAmounts)[];

export const noAmounts = (): UsageAmounts => ({
  ingressBytes: 0,
  ingressRecords: 0,
  egressBytes: 0,
  egressRecords: 0,
  errors: 0,
  unfilteredBytes: 0,
  unfilteredRecords: 0,
});

/** Spelled out, because it is called for each batch of records. */
const lineOf = ({ number, minute, amounts: of }: UsageEntry): string =>
  `[${number},${minute},${of.ingressBytes},${of.ingressRecords},${of.egressBytes},${of.egressRecords},${of.errors},${of.unfilteredBytes},${of.unfilteredRecords}]\n`;

const nodeLine = ({ node, number }: { node: UsageNode; number: number }): string =>
  `${JSON.stringify([number, node])}\n`;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `nodeLine` writes it
const nodeIn = (value: object): UsageNode => value as UsageNode;

function parse(line: string): unknown {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}
