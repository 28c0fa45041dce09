import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import { Cursors } from './cursors.js';
import { again, type Work } from './deliver.js';
import type { OutputWays } from './deliver-over.js';
import { failureOf, type PageInput } from './ends.js';
import { Gather } from './gather.js';
import { HeldPages } from './held-pages.js';
import { withDeadlines } from './with-deadlines.js';

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
 * Processes page by page: reads, delivers to every output, then commits the cursor, so that it is
 * never ahead of an output. Batched records are committed after they are written. Resolves when
 * stopping, or with `fenced` if another worker holds the lease.
 */
export async function runPages(run: PagesRun): Promise<'stopped' | 'fenced'> {
  const { stopping } = run.work;
  const cursors = new Cursors(run);
  if (!(await cursors.open())) return stopping.aborted ? 'stopped' : 'fenced';
  const gathers = new Map<string, Gather>();
  for (const to of run.outputs)
    if (to.output.gather) gathers.set(to.nodeId, new Gather(run.work, to, to.output.gather));
  const held = new HeldPages(run, cursors, gathers);
  const end = await readOn(run, held);
  // On stop, write what is batched.
  return end === 'fenced' || (end === 'stopped' && (await held.settle()) === 'fenced') ? 'fenced' : 'stopped';
}

async function readOn(run: PagesRun, held: HeldPages): Promise<'stopped' | 'fenced'> {
  const { work, input, nodeId } = run;
  const { stopping } = work;
  for (let attempt = 1; !stopping.aborted;) {
    try {
      const pages = input.pages(held.place, stopping);
      for await (const page of withDeadlines(pages, () => held.dueIn, work.clock)) {
        if (page) {
          attempt = 1;
          work.health.answered(nodeId);
          if (stopping.aborted || !(await held.take(page))) return 'stopped';
        }
        if (!input.readsAhead || (held.dueIn ?? 0) <= 0) {
          const settled = await held.settle();
          if (settled !== 'ok') return settled;
        }
        if (stopping.aborted) return 'stopped';
      }
      if (stopping.aborted) break;
      work.health.answered(nodeId);
      attempt = 1;
      for (let left = input.intervalMs ?? DEFAULT_INTERVAL; left > 0 && !stopping.aborted;) {
        const ms = Math.min(left, held.dueIn ?? left);
        await work.clock.sleep(ms, stopping);
        left -= ms;
        if (stopping.aborted || held.dueIn !== 0) continue;
        const settled = await held.settle();
        if (settled !== 'ok') return settled;
      }
    } catch (error) {
      if (stopping.aborted) break;
      // The backoff may be long, so write what is batched first.
      const settled = await held.settle();
      if (settled !== 'ok') return settled;
      await again(work, nodeId, failureOf(error), attempt);
      attempt += 1;
    }
  }
  return 'stopped';
}
