import type { BucketClient } from './client.js';
import { listObjects, type Listed } from './list-objects.js';
import { folderOf, isInLayout, type Layout } from './partition.js';
import { isBehind } from './progress.js';

/** Objects that are held between listing and reading. */
const MAX_FOUND = 20_000;
/** Everything is listed so often, where folders of days allow to list only the last ones in between. */
const SWEEP_MS = 3_600_000;
const DAY = 86_400_000;

/** What a listing found. */
export interface Findings {
  /** By time, then by key. */
  objects: readonly Listed[];
  /** There were more: these are the earliest. */
  more: boolean;
  /** When it began, in the storage's time. */
  at: number;
  /** Everything was listed, not only the folders of the last days. */
  full: boolean;
}

export interface FinderOptions {
  client: BucketClient;
  prefix: string;
  layout: Layout | undefined;
  matches: (key: string) => boolean;
  now: () => number;
}

/** Looks for objects that are not read yet. */
export class Finder {
  /** Requests that the last look took. */
  requests = 0;
  #sweptAt: number | undefined;
  /** Every key was in the folder of a day, right below the prefix. */
  #inOrder = false;

  constructor(private readonly options: FinderOptions) {}

  /** @param isWanted is also told the storage's time @throws EndError */
  async look(isWanted: (object: Listed, at: number) => boolean, signal: AbortSignal): Promise<Findings> {
    const { client, prefix, layout, matches, now } = this.options;
    const startAfter =
      layout && this.#inOrder && this.#sweptAt !== undefined && now() - this.#sweptAt < SWEEP_MS
        ? `${prefix}${folderOf(layout, now() - 2 * DAY)}`
        : undefined;
    const began = now();
    const earliest = new Earliest();
    let at: number | undefined;
    let inOrder = layout !== undefined;
    this.requests = 0;
    for await (const page of listObjects(client, {
      prefix,
      signal,
      now,
      ...(startAfter !== undefined && { startAfter }),
    })) {
      this.requests += 1;
      at ??= page.at;
      for (const object of page.objects) {
        // A marker of a folder, or an object without records.
        if (object.size === 0) continue;
        inOrder &&= layout !== undefined && isInLayout(layout, object.key.slice(prefix.length));
        if (matches(object.key) && isWanted(object, at)) earliest.add(object);
      }
    }
    const { objects, more } = earliest.take();
    const full = startAfter === undefined;
    if (full && !more) {
      this.#sweptAt = began;
      this.#inOrder = inOrder;
    }
    return { objects, more, at: at ?? began, full };
  }
}

/** The earliest of many, in bounded memory. */
class Earliest {
  #objects: Listed[] = [];
  #more = false;

  add(object: Listed): void {
    this.#objects.push(object);
    if (this.#objects.length >= 2 * MAX_FOUND) this.#cut();
  }

  take(): { objects: readonly Listed[]; more: boolean } {
    this.#cut();
    return { objects: this.#objects, more: this.#more };
  }

  #cut(): void {
    this.#objects.sort((a, b) => (isBehind(a, b) ? 1 : -1));
    if (this.#objects.length <= MAX_FOUND) return;
    this.#objects.length = MAX_FOUND;
    this.#more = true;
  }
}
