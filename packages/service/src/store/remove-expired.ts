const DAY = 86_400_000;
/** Rows per statement: a short one, so that it delays no other query for long. */
export const RETENTION_BATCH = 1_000;
/** Batches per call; the next call continues. */
const MAX_BATCHES = 100;

/**
 * Removes rows that are older than `days`, in batches.
 * @param remove removes up to `limit` of the oldest rows before `time`, and returns how many it removed
 * @param signal ends it after the batch that is running
 * @returns the number of removed rows
 */
export async function removeExpired(
  remove: (time: Date, limit: number) => Promise<number>,
  { now, days, signal }: { now: number; days: number; signal: AbortSignal },
): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch += 1) {
    const removed = await remove(new Date(now - days * DAY), RETENTION_BATCH);
    total += removed;
    if (removed < RETENTION_BATCH) break;
  }
  return total;
}
