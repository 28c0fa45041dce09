import { ApiError } from './api-error.js';

/** Keys for writes: one per intent of the person, so that a write whose answer was lost happens once. */
export interface Intents {
  /** Runs `call` with a key: the one of last time if the content is the same and nobody knows what became of it, else a new one. */
  run<T>(content: object, call: (key: string) => Promise<T>): Promise<T>;
}

const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A refusal that ends the matter: nothing was written, and the same again would be refused again. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && error.status !== 409 && error.status !== 429;

export function createIntents(): Intents {
  let open: { content: string; key: string } | undefined;
  return {
    async run(given, call) {
      const content = JSON.stringify(given);
      if (open?.content !== content) open = { content, key: newKey() };
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
