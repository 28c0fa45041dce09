import type { Clock } from './clock.js';

const DUE: unique symbol = Symbol('due');

/**
 * What a source brings, as it comes; `undefined` whenever `dueIn()` milliseconds went by before the next. Asks for one
 * at a time, so that `dueIn` is asked again after each.
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
    // One that is asked for may take as long as it likes to come; nobody waits for it.
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
