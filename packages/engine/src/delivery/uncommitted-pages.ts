import { batchId, createBatch } from '../connector-api/batch.js';
import type { JsonValue } from '../connector-api/record.js';
import { splitLines } from '../records/split.js';
import type { RunCursor } from './run-cursor.js';
import { storeDeadLetters, deadLetter } from './deliver.js';
import type { Page, Unreadable } from '../connector-api/index.js';
import { OutputWriter } from './output-writer.js';
import type { PagesRun } from './run-pages.js';
import { Unacknowledged } from './unacknowledged.js';

/** The position after a page, and what the pages up to it contained. */
interface Progress {
  cursor: JsonValue;
  records: number;
  bytes: number;
}

/**
 * Pages that outputs are writing. Commits their cursors in order, each once all outputs have written
 * its page and all pages before it.
 */
export class UncommittedPages {
  readonly #run: PagesRun;
  readonly #cursor: RunCursor;
  readonly #writers: readonly OutputWriter[];
  readonly #unacknowledged: Unacknowledged<Progress>;
  /** Cursor to continue reading from. */
  position: JsonValue | undefined;
  #end: 'stopped' | 'fenced' | undefined;

  /** @param onEnd called when nothing can be committed anymore */
  constructor(run: PagesRun, cursor: RunCursor, onEnd: () => void) {
    this.#run = run;
    this.#cursor = cursor;
    this.position = cursor.value;
    this.#writers = run.outputs.map((to) => new OutputWriter(run.context, to));
    this.#unacknowledged = new Unacknowledged<Progress>({
      merge: (before, after) => ({
        cursor: after.cursor,
        records: before.records + after.records,
        bytes: before.bytes + after.bytes,
      }),
      acknowledge: (progress) => this.#commit(progress),
      onFailure: onEnd,
    });
  }

  /**
   * Adds a page to the batches of every output. Waits while one of them has too much in memory.
   * Returns `false` if the run stopped first.
   */
  async take(page: Page): Promise<boolean> {
    const { context, pipelineId, nodeId } = this.#run;
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
    if (this.#end || !(await storeDeadLetters(context, nodeId, entries))) return this.#stop();
    for (const note of page.notes ?? []) context.log({ ...note, nodeId });
    const finish = this.#unacknowledged.add({ cursor: page.cursor, records: lines.length, bytes: whole.bytes });
    let open = 1 + batches.length * this.#writers.length;
    const finishOne = (): void => {
      open -= 1;
      if (open === 0) finish();
    };
    const taken = await Promise.all(
      this.#writers.map(async (writer) => {
        for (const batch of batches) if (!(await writer.add(batch, finishOne))) return false;
        return true;
      }),
    );
    if (!taken.every(Boolean)) return this.#stop();
    this.position = page.cursor;
    context.samples.offer(nodeId, lines);
    finishOne();
    return true;
  }

  /** Writes everything that outputs have collected, then commits. */
  async settle(): Promise<'ok' | 'stopped' | 'fenced'> {
    if (!this.#end) {
      const written = await Promise.all(this.#writers.map((writer) => writer.flush()));
      if (!written.every(Boolean)) this.#stop();
    }
    await this.#unacknowledged.settled();
    return this.#end ?? 'ok';
  }

  /** Resolves when no write and no commit is in progress. */
  async close(): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.close()));
    await this.#unacknowledged.settled();
  }

  #stop(): false {
    this.#end ??= 'stopped';
    return false;
  }

  async #commit({ cursor, records, bytes }: Progress): Promise<boolean> {
    const committed = await this.#cursor.commit(cursor, records);
    if (committed !== 'ok') {
      this.#end = committed;
      return false;
    }
    // Count only after the commit: a page that is read again must not be counted twice.
    const { context, nodeId } = this.#run;
    context.counters.add(nodeId, 'ingress', records, bytes);
    context.counters.add(nodeId, 'egress', records, bytes);
    if (records > 0) context.counters.lastIngestedAt = context.clock.now();
    return true;
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
