import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for what `read` finds, up to ten seconds. A frame that is just loading throws when it is asked; that counts as
 * nothing found.
 */
export async function eventually<T>(what: string, read: () => Promise<T | null | undefined>): Promise<T> {
  const end = Date.now() + 10_000;
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
