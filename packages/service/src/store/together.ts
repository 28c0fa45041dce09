interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/** One thing that was asked, and its answer. */
export interface Asked<T, R> {
  readonly item: T;
  resolve: (result: R) => void;
}

/**
 * Answers what is asked one by one in groups: all that comes in the same moment, or while the group before is answered,
 * goes together. What fails fails for all of its group.
 * @param most of one group
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
