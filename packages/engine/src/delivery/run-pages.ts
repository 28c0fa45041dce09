import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import { RunCursor } from './run-cursor.js';
import { waitBeforeRetry, type RunContext } from './deliver.js';
import type { OutputPaths } from './deliver-paths.js';
import { failureOf, type PageInput } from '../connector-api/index.js';
import { Batcher } from './batcher.js';
import { UncommittedPages } from './uncommitted-pages.js';
import { withDeadlines } from './with-deadlines.js';

export interface PagesRun {
  context: RunContext;
  pipelineId: string;
  nodeId: string;
  input: PageInput;
  outputs: readonly OutputPaths[];
  coordinator: Coordinator;
  lease: Lease;
}

const DEFAULT_INTERVAL = 10_000;

/**
 * Processes page by page: reads, delivers to every output, then commits the cursor, so that it is
 * never ahead of an output. Batched records are committed after they are written. Resolves when
 * stopping, or with `fenced` if another worker holds the lease.
 */
export async function runPages(run: PagesRun): Promise<'stopped' | 'fenced'> {
  const { stopping } = run.context;
  const cursor = new RunCursor(run);
  if (!(await cursor.open())) return stopping.aborted ? 'stopped' : 'fenced';
  const batchers = new Map<string, Batcher>();
  for (const to of run.outputs)
    if (to.output.batching) batchers.set(to.nodeId, new Batcher(run.context, to, to.output.batching));
  const uncommitted = new UncommittedPages(run, cursor, batchers);
  const end = await readPages(run, uncommitted);
  // On stop, write what is batched.
  return end === 'fenced' || (end === 'stopped' && (await uncommitted.settle()) === 'fenced') ? 'fenced' : 'stopped';
}

async function readPages(run: PagesRun, uncommitted: UncommittedPages): Promise<'stopped' | 'fenced'> {
  const { context, input, nodeId } = run;
  const { stopping } = context;
  for (let attempt = 1; !stopping.aborted;) {
    try {
      const pages = input.pages(uncommitted.position, stopping);
      for await (const page of withDeadlines(pages, () => uncommitted.dueIn, context.clock)) {
        if (page) {
          attempt = 1;
          context.health.responded(nodeId);
          if (stopping.aborted || !(await uncommitted.take(page))) return 'stopped';
        }
        if (!input.readsAhead || (uncommitted.dueIn ?? 0) <= 0) {
          const settled = await uncommitted.settle();
          if (settled !== 'ok') return settled;
        }
        if (stopping.aborted) return 'stopped';
      }
      if (stopping.aborted) break;
      context.health.responded(nodeId);
      attempt = 1;
      for (let left = input.intervalMs ?? DEFAULT_INTERVAL; left > 0 && !stopping.aborted;) {
        const ms = Math.min(left, uncommitted.dueIn ?? left);
        await context.clock.sleep(ms, stopping);
        left -= ms;
        if (stopping.aborted || uncommitted.dueIn !== 0) continue;
        const settled = await uncommitted.settle();
        if (settled !== 'ok') return settled;
      }
    } catch (error) {
      if (stopping.aborted) break;
      // The backoff may be long, so write what is batched first.
      const settled = await uncommitted.settle();
      if (settled !== 'ok') return settled;
      await waitBeforeRetry(context, nodeId, failureOf(error), attempt);
      attempt += 1;
    }
  }
  return 'stopped';
}
