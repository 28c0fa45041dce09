import { folderOf, isInLayout, type Layout } from './layout.js';
import { isAfter } from './object-cursor.js';
import type { Listed, Listing, ObjectSource } from './store.js';

/** Maximum number of listed objects to hold until they are read. */
const MAX_FOUND = 20_000;
/** Milliseconds between full listings. In between, day folders allow listing only the last days. */
const FULL_LISTING_MS = 3_600_000;
const DAY = 86_400_000;

/** The result of a listing. */
export interface FoundObjects {
  /** Sorted by timestamp, then by key. */
  objects: readonly Listed[];
  /** There were more objects; these are the earliest. */
  more: boolean;
  /** When the listing started, in the storage's time: milliseconds since the epoch. */
  at: number;
  /** Whether everything was listed, not only the folders of the last days. */
  full: boolean;
}

export interface ObjectFinderOptions {
  store: ObjectSource;
  prefix: string;
  layout: Layout | undefined;
  matches: (key: string) => boolean;
  now: () => number;
}

/** Finds objects that have not been read yet. */
export class ObjectFinder {
  /** Number of requests of the last listing. */
  requests = 0;
  #fullListingAt: number | undefined;
  /** Whether every key of the last full listing was in a day folder directly below the prefix. */
  #inOrder = false;
  readonly #options: ObjectFinderOptions;

  constructor(options: ObjectFinderOptions) {
    this.#options = options;
  }

  /**
   * Lists the bucket and returns the earliest objects to read.
   * @param isSelected also receives the storage's time, in milliseconds since the epoch
   * @throws ConnectorError
   */
  async find(isSelected: (object: Listed, at: number) => boolean, signal: AbortSignal): Promise<FoundObjects> {
    const { store, prefix, layout, matches, now } = this.#options;
    const isRecent =
      this.#inOrder && this.#fullListingAt !== undefined && now() - this.#fullListingAt < FULL_LISTING_MS;
    const listings = layout && isRecent ? this.#recent(layout) : [{ prefix }];
    const began = now();
    const earliest = new Earliest();
    let at: number | undefined;
    let inOrder = layout !== undefined;
    this.requests = 0;
    for (const listing of listings) {
      for await (const page of store.list({ ...listing, signal })) {
        this.requests += 1;
        at ??= page.at;
        for (const object of page.objects) {
          // A folder marker, or an object without records.
          if (object.size === 0) continue;
          inOrder &&= layout !== undefined && isInLayout(layout, object.key.slice(prefix.length));
          if (matches(object.key) && isSelected(object, at)) earliest.add(object);
        }
      }
    }
    const { objects, more } = earliest.take();
    const full = !(layout && isRecent);
    if (full && !more) {
      this.#fullListingAt = began;
      this.#inOrder = inOrder;
    }
    return { objects, more, at: at ?? began, full };
  }

  /** Returns listings of the folders of the last days. */
  #recent(layout: Layout): Omit<Listing, 'signal'>[] {
    const { store, prefix, now } = this.#options;
    const folder = (days: number): string => `${prefix}${folderOf(layout, now() + days * DAY)}`;
    if (store.startsAfter) return [{ prefix, startAfter: folder(-2) }];
    return [-2, -1, 0, 1].map((days) => ({ prefix: folder(days) }));
  }
}

/** Collects the earliest of many objects in bounded memory. */
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
    this.#objects.sort((a, b) => (isAfter(a, b) ? 1 : -1));
    if (this.#objects.length <= MAX_FOUND) return;
    this.#objects.length = MAX_FOUND;
    this.#more = true;
  }
}
