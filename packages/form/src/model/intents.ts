import { ApiError } from './api-error.js';

/**
 * Idempotency keys for writes. A write that is repeated because its response was lost keeps its
 * key, and so happens once.
 */
export interface Intents {
  /**
   * Runs `call` with an idempotency key. Reuses the last key if the content is the same and the
   * outcome of the last call is unknown; otherwise creates a new one.
   */
  run<T>(content: object, call: (key: string) => Promise<T>): Promise<T>;
}

/** Returns whether an error is permanent: nothing was written, and a retry would fail again. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && error.status !== 409 && error.status !== 429;

export function createIntents(): Intents {
  let open: { content: string; key: string } | undefined;
  return {
    async run(given, call) {
      const content = JSON.stringify(given);
      if (open?.content !== content) open = { content, key: crypto.randomUUID().replaceAll('-', '') };
      try {
        const result = await call(open.key);
        open = undefined;
        return result;
      } catch (error) {
        if (isFinal(error)) open = undefined;
        throw error;
      }
    },
  };
}
