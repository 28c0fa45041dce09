/**
 * Maps items in order, at most `limit` at once. The first failure aborts the others and is thrown.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const results: R[] = [];
  const rest = items.entries();
  let failure: { error: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) {
      if (failure) return;
      try {
        results[index] = await map(item, either);
      } catch (error) {
        failure ??= { error };
        failed.abort();
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  if (failure) throw failure.error;
  return results;
}
