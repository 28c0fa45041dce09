import type { AuditCount } from '../store/audit-logs.js';

/** Changes in one interval. */
export interface Bucket {
  index: number;
  /** First millisecond of the interval. */
  start: string;
  count: number;
  by_action: Record<string, number>;
  by_resource_type: Record<string, number>;
}

export interface AuditHistogram {
  total: number;
  bucket_seconds: number;
  earliest_occurred_at?: string;
  latest_occurred_at?: string;
  buckets: Bucket[];
}

/** Arranges counts in intervals of equal length, including empty ones. */
export function histogramOf(
  counts: readonly AuditCount[],
  { from, to, buckets: size }: { from: Date; to: Date; buckets: number },
): AuditHistogram {
  const length = to.getTime() - from.getTime();
  const buckets = Array.from({ length: size }, (_, index): Bucket => {
    const start = new Date(from.getTime() + Math.ceil((index * length) / size));
    return { index, start: start.toISOString(), count: 0, by_action: {}, by_resource_type: {} };
  });
  for (const { index, action, resourceType, count } of counts) {
    const bucket = buckets[index];
    if (!bucket) continue;
    bucket.count += count;
    bucket.by_action[action] = (bucket.by_action[action] ?? 0) + count;
    bucket.by_resource_type[resourceType] = (bucket.by_resource_type[resourceType] ?? 0) + count;
  }
  const times = (pick: 'earliest' | 'latest') => counts.map((each) => each[pick].getTime());
  return {
    total: counts.reduce((sum, { count }) => sum + count, 0),
    bucket_seconds: length / size / 1_000,
    ...(counts.length > 0 && {
      earliest_occurred_at: new Date(Math.min(...times('earliest'))).toISOString(),
      latest_occurred_at: new Date(Math.max(...times('latest'))).toISOString(),
    }),
    buckets,
  };
}
