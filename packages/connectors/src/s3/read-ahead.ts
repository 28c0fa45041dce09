import type { BucketClient } from './client.js';
import type { Listed } from './list-objects.js';
import { readObject } from './read-object.js';

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

  constructor(
    private readonly client: BucketClient,
    private readonly objects: readonly Listed[],
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Yields the bytes of the object at `index`. A second call fetches them again.
   * @throws as `readObject`
   */
  async *read(index: number): AsyncGenerator<Uint8Array, void, void> {
    for (; this.#next < index + AHEAD; this.#next += 1) this.#fetch(this.#next);
    const object = this.objects[index];
    const fetched = this.#fetched.get(index);
    this.#fetched.delete(index);
    if (fetched) yield* await fetched;
    else if (object) yield* readObject(this.client, object, this.signal);
  }

  #fetch(index: number): void {
    const object = this.objects[index];
    if (!object || object.size > MAX_SIZE) return;
    const fetching = collect(readObject(this.client, object, this.signal));
    // Avoids an unhandled rejection; `read` reports the error if the object is read.
    fetching.catch(() => undefined);
    this.#fetched.set(index, fetching);
  }
}

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return chunks;
}
