import { batchId, createBatch, type Batch } from '../connector-api/batch.js';
import type { JsonValue } from '../connector-api/record.js';
import { splitLines } from '../records/split.js';
import type { RunCursor } from './run-cursor.js';
import { storeDeadLetters, deadLetter, type RunContext } from './deliver.js';
import { deliverPaths, type OutputPaths } from './deliver-paths.js';
import type { Page, Unreadable } from '../connector-api/index.js';
import type { Batcher } from './batcher.js';
import type { PagesRun } from './run-pages.js';

/** Uncommitted pages: the page being delivered, or all pages that outputs have batched. */
export class UncommittedPages {
  readonly #run: PagesRun;
  readonly #cursor: RunCursor;
  readonly #batchers: ReadonlyMap<string, Batcher>;
  /** Cursor to continue reading from. */
  position: JsonValue | undefined;
  #uncommitted = false;
  /** A page was not fully delivered; nothing is committed anymore. */
  #broken = false;
  #records = 0;
  #bytes = 0;

  constructor(run: PagesRun, cursor: RunCursor, batchers: ReadonlyMap<string, Batcher>) {
    this.#run = run;
    this.#cursor = cursor;
    this.#batchers = batchers;
    this.position = cursor.value;
  }

  /**
   * Milliseconds until the batched records should be written; `undefined` if nothing is batched.
   */
  get dueIn(): number | undefined {
    const dues = [...this.#batchers.values()].flatMap((batcher) => batcher.dueIn ?? []);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /**
   * Delivers a page to every output or adds it to their batches. Returns `false` if the run stopped
   * first.
   */
  async take(page: Page): Promise<boolean> {
    const { context, pipelineId, nodeId, outputs } = this.#run;
    const { lines, tooDeep } = linesOf(page);
    const source = JSON.stringify(this.position ?? null);
    const { batches, tooLarge } = splitLines({ pipelineId, nodeId, position: source }, lines);
    const id = batchId(pipelineId, nodeId, source);
    const whole = createBatch(id, lines);
    const entries = [
      ...tooLarge.map((index) => deadLetter(nodeId, whole, index, 'too_large')),
      ...[...tooDeep, ...(page.unreadable ?? [])].map(({ reason, found }, index) => ({
        nodeId,
        reason,
        recordId: `${id}.u${index}`,
        line: JSON.stringify(found),
      })),
    ];
    this.#broken ||= !(await storeDeadLetters(context, nodeId, entries));
    if (this.#broken) return false;
    for (const note of page.notes ?? []) context.log({ ...note, nodeId });
    const taken = await Promise.all(
      outputs.map((to) => {
        const batcher = this.#batchers.get(to.nodeId);
        return batcher ? addAll(batcher, batches) : deliverAll(context, to, batches);
      }),
    );
    this.#broken = !taken.every(Boolean);
    if (this.#broken) return false;
    this.position = page.cursor;
    this.#uncommitted = true;
    this.#records += lines.length;
    this.#bytes += lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    return true;
  }

  /** Writes the batched records, then commits the cursor. */
  async settle(): Promise<'ok' | 'stopped' | 'fenced'> {
    if (this.#broken) return 'stopped';
    const written = await Promise.all([...this.#batchers.values()].map((batcher) => batcher.write()));
    this.#broken = !written.every(Boolean);
    if (this.#broken) return 'stopped';
    if (!this.#uncommitted) return 'ok';
    const committed = await this.#cursor.commit(this.position ?? null, this.#records);
    if (committed !== 'ok') return committed;
    // Count only after the commit: a page that is read again must not be counted twice.
    const { context, nodeId } = this.#run;
    context.counters.add(nodeId, 'ingress', this.#records, this.#bytes);
    context.counters.add(nodeId, 'egress', this.#records, this.#bytes);
    if (this.#records > 0) context.counters.lastIngestedAt = context.clock.now();
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

async function addAll(batcher: Batcher, batches: readonly Batch[]): Promise<boolean> {
  for (const batch of batches) if (!(await batcher.add(batch))) return false;
  return true;
}

async function deliverAll(context: RunContext, to: OutputPaths, batches: readonly Batch[]): Promise<boolean> {
  context.health.opened(to.nodeId, batches.length);
  for (const [index, batch] of batches.entries()) {
    if (!(await deliverPaths(context, to, batch))) {
      context.health.opened(to.nodeId, index - batches.length);
      return false;
    }
    context.health.acknowledged(to.nodeId);
  }
  return true;
}
