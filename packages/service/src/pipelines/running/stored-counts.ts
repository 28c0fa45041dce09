import type { TotalCounts } from '../../alerts/counts.js';
import type { PipelineCounts } from '../../store/store.js';
import type { CountsByNode } from '../../store/tables.js';
import { increase } from '../metric-series.js';

/**
 * Returns what pipelines counted in each of several spans, from the counts that are stored at full
 * minutes. Times in milliseconds since the epoch.
 * @param spans the pipelines and the start of each
 * @param to end of all spans
 */
export async function readStoredCounts(
  counts: Pick<PipelineCounts, 'before'>,
  spans: readonly { ids: readonly string[]; from: number }[],
  to: number,
): Promise<Map<string, TotalCounts>[]> {
  const all = [...new Set(spans.flatMap(({ ids }) => ids))];
  const after = await counts.before(all, new Date(to));
  const found: Map<string, TotalCounts>[] = [];
  for (const { ids, from } of spans) {
    const before = await counts.before(ids, new Date(from));
    found.push(new Map(ids.map((id) => [id, between(before.get(id), after.get(id) ?? {})])));
  }
  return found;
}

function between(before: CountsByNode | undefined, after: CountsByNode): TotalCounts {
  const sums = increase(before, after);
  let failedAttempts = 0;
  for (const [id, { failed_attempts: attempts = 0 }] of Object.entries(after))
    failedAttempts += Math.max(0, attempts - (before?.[id]?.failed_attempts ?? 0));
  return {
    ingress: { records: sums.ingress_records, bytes: sums.ingress_bytes },
    egress: { records: sums.egress_records, bytes: sums.egress_bytes },
    errors: sums.errors,
    failedAttempts,
  };
}
