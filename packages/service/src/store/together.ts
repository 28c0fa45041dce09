interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/** A request and the callback for its result. */
export interface Asked<T, R> {
  readonly item: T;
  resolve: (result: R) => void;
}

/**
 * Batches single requests: those made in the same tick, or while the previous batch is processed,
 * are processed together. An error rejects all requests of its batch.
 * @param most maximum requests per batch
 */
export function together<T, R>(
  answer: (group: readonly Asked<T, R>[]) => Promise<void>,
  most = 500,
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let answering = false;

  async function drain(): Promise<void> {
    answering = true;
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.splice(0, most);
      try {
        await answer(group);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    answering = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!answering) void drain();
    });
}
