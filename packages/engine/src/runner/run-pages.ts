import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import type { Batch } from '../records/batch.js';
import { batchId, createBatch } from '../records/batch.js';
import type { JsonValue } from '../records/record.js';
import { splitLines } from '../records/split.js';
import { again, bury, letter, type Work } from './deliver.js';
import { deliverOver, type OutputWays } from './deliver-over.js';
import { failureOf, type Page, type PageInput } from './ends.js';

export interface PagesRun {
  work: Work;
  pipelineId: string;
  nodeId: string;
  input: PageInput;
  outputs: readonly OutputWays[];
  coordinator: Coordinator;
  lease: Lease;
}

const DEFAULT_INTERVAL = 10_000;

/**
 * Page by page: read, deliver to every output, then commit the cursor, so that it is never ahead of an output. Ends when
 * told to stop, or `fenced` when somebody else has the lease.
 */
export async function runPages(run: PagesRun): Promise<'stopped' | 'fenced'> {
  const { work, input, nodeId } = run;
  const { stopping } = work;
  const cursors = new Cursors(run);
  if (!(await cursors.open())) return stopping.aborted ? 'stopped' : 'fenced';
  for (let attempt = 1; !stopping.aborted;) {
    try {
      for await (const page of input.pages(cursors.value, stopping)) {
        attempt = 1;
        work.health.answered(nodeId);
        const lines = page.records.map((record) => JSON.stringify(record));
        if (stopping.aborted || !(await deliverPage(run, lines, cursors.value))) return 'stopped';
        const committed = await cursors.commit(page);
        if (committed !== 'ok') return committed;
        count(run, lines);
        if (stopping.aborted) return 'stopped';
      }
      if (stopping.aborted) break;
      work.health.answered(nodeId);
      attempt = 1;
      await work.clock.sleep(input.intervalMs ?? DEFAULT_INTERVAL, stopping);
    } catch (error) {
      if (stopping.aborted) break;
      await again(work, nodeId, failureOf(error), attempt);
      attempt += 1;
    }
  }
  return 'stopped';
}

/** `false`: told to stop before every output had all of it. */
async function deliverPage(run: PagesRun, lines: readonly string[], before: JsonValue | undefined): Promise<boolean> {
  const { work, pipelineId, nodeId } = run;
  const position = JSON.stringify(before ?? null);
  const { batches, tooLarge } = splitLines({ pipelineId, nodeId, position }, lines);
  const whole = createBatch(batchId(pipelineId, nodeId, position), lines);
  if (
    !(await bury(
      work,
      nodeId,
      tooLarge.map((index) => letter(nodeId, whole, index, 'too_large')),
    ))
  )
    return false;
  const done = await Promise.all(run.outputs.map((to) => deliverAll(work, to, batches)));
  return done.every(Boolean);
}

/** Only once the cursor has moved: a page that is read again is not counted again. */
function count({ work, nodeId }: PagesRun, lines: readonly string[]): void {
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
  work.counters.add(nodeId, 'ingress', lines.length, bytes);
  work.counters.add(nodeId, 'egress', lines.length, bytes);
  if (lines.length > 0) work.counters.lastIngestedAt = work.clock.now();
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

/** The cursor of one run: opened once, moved after each page. */
class Cursors {
  value: JsonValue | undefined;
  #version = 0;

  constructor(private readonly run: PagesRun) {}

  async open(): Promise<boolean> {
    const { coordinator, lease } = this.run;
    const cursor = await this.#insist(() => coordinator.openCursor(lease, this.#key));
    if (!cursor) return false;
    this.value = cursor.value;
    this.#version = cursor.version;
    return true;
  }

  async commit({ cursor, records }: Page): Promise<'ok' | 'stopped' | 'fenced'> {
    const { coordinator, lease } = this.run;
    if (records.length > 0 || JSON.stringify(cursor) !== JSON.stringify(this.value)) {
      const committed = await this.#insist(() => coordinator.commitCursor(lease, this.#key, this.#version, cursor));
      if (!committed) return 'stopped';
      if (!committed.ok) return 'fenced';
      this.value = cursor;
      this.#version = committed.version;
    }
    return 'ok';
  }

  get #key(): string {
    return `${this.run.pipelineId}/${this.run.nodeId}`;
  }

  /** What was delivered must be written down: a page that is read again would be delivered twice. */
  async #insist<T>(ask: () => Promise<T>): Promise<T | undefined> {
    const { work, nodeId } = this.run;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask();
      } catch (error) {
        const failure = { ...failureOf(error), code: 'coordinator', message: 'The cursor could not be reached.' };
        if (!(await again(work, nodeId, failure, attempt))) return undefined;
      }
    }
  }
}
