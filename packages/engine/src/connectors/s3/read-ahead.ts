import type { BucketClient } from './client.js';
import type { Listed } from './list-objects.js';
import { readObject } from './read-object.js';

const AHEAD = 8;
/** Larger ones are read when it is their turn, as they come. */
const MAX_SIZE = 256 * 1024;

/** Fetches the next few small objects of a list while one is taken apart: most of their time is waiting. */
export class ReadAhead {
  readonly #fetched = new Map<number, Promise<Uint8Array[]>>();
  /** All before it were begun. */
  #next = 0;

  constructor(
    private readonly client: BucketClient,
    private readonly objects: readonly Listed[],
    private readonly signal: AbortSignal,
  ) {}

  /** The bytes of the object at `index`. Asked for again, they are fetched again. @throws as `readObject` */
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
    // Told to whoever reads it, if anybody does.
    fetching.catch(() => undefined);
    this.#fetched.set(index, fetching);
  }
}

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return chunks;
}
