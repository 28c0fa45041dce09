import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import { RunCursor } from './run-cursor.js';
import { pauseAfterFailure, type RunContext } from './run-context.js';
import type { OutputPaths } from './deliver-paths.js';
import { failureOf, type PageInput } from '../connector-api/index.js';
import { UncommittedPages } from './uncommitted-pages.js';

export interface PagesRun {
  context: RunContext;
  pipelineId: string;
  nodeId: string;
  input: PageInput;
  outputs: readonly OutputPaths[];
  coordinator: Pick<Coordinator, 'openCursor' | 'commitCursor'>;
  lease: Lease;
}

const DEFAULT_INTERVAL = 10_000;

/**
 * Processes page by page: reads, writes to every output, then commits the cursor, so that it is
 * never ahead of an output. Reads ahead of the writes if the input allows it. Resolves when
 * stopping, or with `fenced` if another worker holds the lease.
 */
export async function runPages(run: PagesRun): Promise<'stopped' | 'fenced'> {
  const { stopping } = run.context;
  const cursor = new RunCursor(run);
  if (!(await cursor.open())) return stopping.aborted ? 'stopped' : 'fenced';
  // Ends when the run stops, and when the cursor can't be committed anymore.
  const reading = new AbortController();
  const stop = (): void => reading.abort();
  if (stopping.aborted) stop();
  stopping.addEventListener('abort', stop);
  const uncommitted = new UncommittedPages(run, cursor, stop);
  try {
    await readPages(run, uncommitted, reading.signal);
    // On stop, write what has been collected.
    return (await uncommitted.settle()) === 'fenced' ? 'fenced' : 'stopped';
  } finally {
    stopping.removeEventListener('abort', stop);
    await uncommitted.close();
  }
}

async function readPages(run: PagesRun, uncommitted: UncommittedPages, reading: AbortSignal): Promise<void> {
  const { context, input, nodeId } = run;
  // Stays set over failures, until the requested read is complete.
  let isRequested = false;
  for (let attempt = 1; !reading.aborted;) {
    try {
      for await (const page of input.pages(uncommitted.position, reading, isRequested)) {
        attempt = 1;
        context.health.responded(nodeId);
        if (reading.aborted || !(await uncommitted.take(page))) return;
        if (!input.readsAhead && (await uncommitted.settle()) !== 'ok') return;
        if (reading.aborted) return;
      }
      if (reading.aborted) return;
      context.health.responded(nodeId);
      attempt = 1;
      isRequested = await context.polls.sleep(input.intervalMs ?? DEFAULT_INTERVAL, reading);
    } catch (error) {
      if (reading.aborted) return;
      // The backoff may be long, so write what has been collected first.
      if ((await uncommitted.settle()) !== 'ok') return;
      if (await pauseAfterFailure(context, nodeId, failureOf(error), attempt)) isRequested = true;
      attempt += 1;
    }
  }
}
