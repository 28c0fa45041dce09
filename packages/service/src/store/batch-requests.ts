interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/** A request and the callback for its result. */
export interface Request<T, R> {
  readonly item: T;
  resolve: (result: R) => void;
}

/**
 * Batches single requests: those made in the same tick, or while the previous batch is processed,
 * are processed together. An error rejects all requests of its batch.
 * @param max maximum requests per batch
 */
export function batchRequests<T, R>(
  process: (group: readonly Request<T, R>[]) => Promise<void>,
  max = 500,
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let processing = false;

  async function drain(): Promise<void> {
    processing = true;
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.splice(0, max);
      try {
        await process(group);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    processing = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!processing) void drain();
    });
}
