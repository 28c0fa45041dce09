import { batchId, createBatch, type Batch } from '../records/batch.js';
import type { JsonValue } from '../records/record.js';
import { splitLines } from '../records/split.js';
import type { Cursors } from './cursors.js';
import { bury, letter, type Work } from './deliver.js';
import { deliverOver, type OutputWays } from './deliver-over.js';
import type { Page, Unreadable } from './ends.js';
import type { Gather } from './gather.js';
import type { PagesRun } from './run-pages.js';

/** Uncommitted pages: the page being delivered, or all pages that outputs have batched. */
export class HeldPages {
  /** Cursor to continue reading from. */
  place: JsonValue | undefined;
  #uncommitted = false;
  /** A page was not fully delivered; nothing is committed anymore. */
  #broken = false;
  #records = 0;
  #bytes = 0;

  constructor(
    private readonly run: PagesRun,
    private readonly cursors: Cursors,
    private readonly gathers: ReadonlyMap<string, Gather>,
  ) {
    this.place = cursors.value;
  }

  /**
   * Milliseconds until the batched records should be written; `undefined` if nothing is batched.
   */
  get dueIn(): number | undefined {
    const dues = [...this.gathers.values()].flatMap((gather) => gather.dueIn ?? []);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /**
   * Delivers a page to every output or adds it to their batches. Returns `false` if the run stopped
   * first.
   */
  async take(page: Page): Promise<boolean> {
    const { work, pipelineId, nodeId, outputs } = this.run;
    const { lines, tooDeep } = linesOf(page);
    const position = JSON.stringify(this.place ?? null);
    const { batches, tooLarge } = splitLines({ pipelineId, nodeId, position }, lines);
    const id = batchId(pipelineId, nodeId, position);
    const whole = createBatch(id, lines);
    const letters = [
      ...tooLarge.map((index) => letter(nodeId, whole, index, 'too_large')),
      ...[...tooDeep, ...(page.unreadable ?? [])].map(({ reason, found }, index) => ({
        nodeId,
        reason,
        recordId: `${id}.u${index}`,
        line: JSON.stringify(found),
      })),
    ];
    this.#broken ||= !(await bury(work, nodeId, letters));
    if (this.#broken) return false;
    for (const note of page.notes ?? []) work.log({ ...note, nodeId });
    const taken = await Promise.all(
      outputs.map((to) => {
        const gather = this.gathers.get(to.nodeId);
        return gather ? gatherAll(gather, batches) : deliverAll(work, to, batches);
      }),
    );
    this.#broken = !taken.every(Boolean);
    if (this.#broken) return false;
    this.place = page.cursor;
    this.#uncommitted = true;
    this.#records += lines.length;
    this.#bytes += lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    return true;
  }

  /** Writes the batched records, then commits the cursor. */
  async settle(): Promise<'ok' | 'stopped' | 'fenced'> {
    if (this.#broken) return 'stopped';
    const written = await Promise.all([...this.gathers.values()].map((gather) => gather.write()));
    this.#broken = !written.every(Boolean);
    if (this.#broken) return 'stopped';
    if (!this.#uncommitted) return 'ok';
    const committed = await this.cursors.commit(this.place ?? null, this.#records);
    if (committed !== 'ok') return committed;
    // Count only after the commit: a page that is read again must not be counted twice.
    const { work, nodeId } = this.run;
    work.counters.add(nodeId, 'ingress', this.#records, this.#bytes);
    work.counters.add(nodeId, 'egress', this.#records, this.#bytes);
    if (this.#records > 0) work.counters.lastIngestedAt = work.clock.now();
    this.#uncommitted = false;
    this.#records = this.#bytes = 0;
    return 'ok';
  }
}

/**
 * Serializes the records. JSON nested thousands of levels deep can be parsed but not serialized
 * again.
 */
function linesOf({ records }: Page): { lines: string[]; tooDeep: Unreadable[] } {
  const lines: string[] = [];
  const tooDeep: Unreadable[] = [];
  for (const [index, record] of records.entries()) {
    try {
      lines.push(JSON.stringify(record));
    } catch {
      tooDeep.push({ reason: 'too_deep', found: { index } });
    }
  }
  return { lines, tooDeep };
}

async function gatherAll(gather: Gather, batches: readonly Batch[]): Promise<boolean> {
  for (const batch of batches) if (!(await gather.add(batch))) return false;
  return true;
}

async function deliverAll(work: Work, to: OutputWays, batches: readonly Batch[]): Promise<boolean> {
  work.health.opened(to.nodeId, batches.length);
  for (const [index, batch] of batches.entries()) {
    if (!(await deliverOver(work, to, batch))) {
      work.health.opened(to.nodeId, index - batches.length);
      return false;
    }
    work.health.acknowledged(to.nodeId);
  }
  return true;
}
