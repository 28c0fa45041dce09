import type { Clock } from '../connector-api/clock.js';

const DUE: unique symbol = Symbol('due');

/**
 * Yields the items of a source as they arrive, and `undefined` whenever `dueIn()` milliseconds pass
 * before the next one. Requests one item at a time, so that `dueIn` is called again after each.
 */
export async function* withDeadlines<T>(
  source: AsyncIterable<T>,
  dueIn: () => number | undefined,
  clock: Clock,
): AsyncGenerator<T | undefined, void, void> {
  const items = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<T, unknown>> | undefined;
  try {
    for (;;) {
      next ??= items.next();
      const due = dueIn();
      const found = due === undefined ? await next : await firstOf(next, due, clock);
      if (found === DUE) {
        yield undefined;
        continue;
      }
      next = undefined;
      if (found.done === true) return;
      yield found.value;
    }
  } finally {
    const ended = items.return?.();
    // A requested item may take arbitrarily long; do not wait for it.
    if (next === undefined) await ended;
    else for (const late of [next, ended]) late?.catch(() => undefined);
  }
}

async function firstOf<T>(next: Promise<T>, ms: number, clock: Clock): Promise<T | typeof DUE> {
  const woken = new AbortController();
  const late = async (): Promise<typeof DUE> => {
    await clock.sleep(ms, woken.signal);
    return DUE;
  };
  try {
    return await Promise.race<T | typeof DUE>([next, late()]);
  } finally {
    woken.abort();
  }
}
