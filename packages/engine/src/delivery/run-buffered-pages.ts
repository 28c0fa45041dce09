import { BusError, type Bus } from '../bus/bus.js';
import { batchId, createBatch, type Batch } from '../connector-api/batch.js';
import { ConnectorError, failureOf, WRITTEN, type Output } from '../connector-api/index.js';
import { waitBeforeRetry, type RunContext } from './deliver.js';
import { runPages, type PagesRun } from './run-pages.js';

export interface BufferedPagesRun extends Omit<PagesRun, 'outputs'> {
  bus: Bus;
  /** Stream of the input. */
  stream: string;
}

/** Milliseconds of one attempt to store a page while the buffer is full. */
const WAIT_MS = 1_000;
/** No node has this id, so nothing is counted for the buffer. */
const BUFFER = '';

/**
 * Stores pages in the buffer of the input, from which each output reads at its own pace. The cursor
 * is committed once a page is stored, so one output can't delay the others until its budget is used
 * up. Resolves when stopping, or with `fenced` if another worker holds the lease.
 */
export function runBufferedPages(run: BufferedPagesRun): Promise<'stopped' | 'fenced'> {
  const { bus, stream, nodeId } = run;
  // A page that is not stored yet is read again, so there is nothing to finish when stopping.
  const context: RunContext = { ...run.context, aborted: run.context.stopping };
  let version = 0;
  const coordinator: PagesRun['coordinator'] = {
    openCursor: async (lease, key) => {
      const cursor = await run.coordinator.openCursor(lease, key);
      version = cursor?.version ?? 0;
      return cursor;
    },
    commitCursor: async (lease, key, before, value) => {
      const committed = await run.coordinator.commitCursor(lease, key, before, value);
      if (committed.ok) ({ version } = committed);
      return committed;
    },
  };
  const output: Output = {
    write: async (batch) => {
      await store(context, { bus, stream, nodeId, batch: ofVersion(batch, version) });
      return WRITTEN;
    },
  };
  const paths = [{ name: '', stages: [] }];
  return runPages({ ...run, context, coordinator, outputs: [{ nodeId: BUFFER, output, paths }] });
}

/**
 * Returns the batch with an id that depends on the version of the cursor. If the process is killed
 * before the commit, the page is stored once. A page that is read again after its commit, because
 * the source always returns everything, is stored again.
 */
const ofVersion = (batch: Batch, version: number): Batch =>
  createBatch(batchId(batch.id, String(version)), batch.lines, batch.bytes);

/** Stores a batch, waiting for space as long as it takes. Rejects when the run stops. */
async function store(
  context: RunContext,
  { bus, stream, nodeId, batch }: { bus: Bus; stream: string; nodeId: string; batch: Batch },
): Promise<void> {
  const { stopping } = context;
  for (let attempt = 1; !stopping.aborted;) {
    try {
      const published = await bus.publish(stream, batch, { waitMs: WAIT_MS, signal: stopping });
      if (published.stored) return;
    } catch (error) {
      const code = error instanceof BusError ? error.code : failureOf(error).code;
      const message = 'The page could not be written to the buffer.';
      await waitBeforeRetry(context, nodeId, { code, message, kind: 'retry' }, attempt);
      attempt += 1;
    }
  }
  throw new ConnectorError('stopped', 'The run has stopped.');
}
