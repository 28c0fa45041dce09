import { readObject } from './read-object.js';
import type { Listed, ObjectSource } from './store.js';

const AHEAD = 8;
/** Maximum bytes of an object to prefetch; larger ones are streamed in their turn. */
const MAX_SIZE = 256 * 1024;

/**
 * Prefetches the next few small objects of a list while one is parsed: most of their time is
 * latency.
 */
export class ReadAhead {
  readonly #fetched = new Map<number, Promise<Uint8Array[]>>();
  /** All objects before this index have been considered for prefetching. */
  #next = 0;
  readonly #store: ObjectSource;
  readonly #objects: readonly Listed[];
  readonly #offsetOf: (object: Listed) => number;
  readonly #signal: AbortSignal;

  /** @param offsetOf returns the offset of the first byte to read */
  constructor(
    store: ObjectSource,
    objects: readonly Listed[],
    offsetOf: (object: Listed) => number,
    signal: AbortSignal,
  ) {
    this.#store = store;
    this.#objects = objects;
    this.#offsetOf = offsetOf;
    this.#signal = signal;
  }

  /**
   * Yields the bytes of the object at `index`. A second call fetches them again.
   * @throws as `readObject`
   */
  async *read(index: number): AsyncGenerator<Uint8Array, void, void> {
    for (; this.#next < index + AHEAD; this.#next += 1) this.#fetch(this.#next);
    const object = this.#objects[index];
    const fetched = this.#fetched.get(index);
    this.#fetched.delete(index);
    if (fetched) yield* await fetched;
    else if (object) yield* this.#bytesOf(object);
  }

  #fetch(index: number): void {
    const object = this.#objects[index];
    if (!object || object.size - this.#offsetOf(object) > MAX_SIZE) return;
    const fetching = collect(this.#bytesOf(object));
    // Avoids an unhandled rejection; `read` reports the error if the object is read.
    fetching.catch(() => undefined);
    this.#fetched.set(index, fetching);
  }

  #bytesOf(object: Listed): AsyncGenerator<Uint8Array, void, void> {
    return readObject(this.#store, object, this.#signal, this.#offsetOf(object));
  }
}

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return chunks;
}
