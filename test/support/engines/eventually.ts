import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls `read` until it returns a value, for up to two minutes. Errors count as no value, because a
 * frame that is still loading throws when it is accessed.
 */
export async function eventually<T>(what: string, read: () => Promise<T | null | undefined>): Promise<T> {
  const end = Date.now() + 120_000;
  let cause: unknown;
  do {
    try {
      const found = await read();
      if (found !== null && found !== undefined) return found;
    } catch (error) {
      cause = error;
    }
    await sleep(20);
  } while (Date.now() < end);
  throw new Error(`Timed out waiting for ${what}`, { cause });
}
