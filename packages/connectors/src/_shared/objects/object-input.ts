import type { Clock, ConnectorError, JsonValue, Page, PageInput } from '@connector-frame/engine/connector-api';
import { ObjectFinder } from './find-objects.js';
import { GrowingParser, type Grown } from './growing-parser.js';
import type { Found } from '../formats/index.js';
import type { InputSettings } from './input-settings.js';
import { PageBuilder } from './page-builder.js';
import { ObjectCursor } from './object-cursor.js';
import { ReadAhead } from './read-ahead.js';
import { ObjectError, type Listed, type ObjectSource } from './store.js';
import { parseObject, type Parsed } from './parse-object.js';
import { skipObject } from './skip-object.js';
import { ContentError } from '../unpack.js';

/** Number of attempts to read an object before it is skipped. */
const MAX_TRIES = 3;
/**
 * Milliseconds between two listings: `PER_REQUEST_MS` for each request of the last listing, since
 * requests are billed, but at least `INTERVAL_MS` and at most `LONGEST_MS`.
 */
const INTERVAL_MS = 15_000;
const PER_REQUEST_MS = 2_000;
const LONGEST_MS = 3_600_000;
/**
 * Without new objects, the cursor is committed only after it has advanced by this many
 * milliseconds.
 */
const QUIET_MS = 300_000;

/** Reads the objects of a storage as they are written: each once, in order of their timestamps. */
export const createObjectInput = (store: ObjectSource, settings: InputSettings, clock: Clock): PageInput =>
  new ObjectInput(store, settings, clock);

class ObjectInput implements PageInput {
  readonly kind = 'pages';
  readonly readsAhead = true;
  readonly #finder: ObjectFinder;
  /** Whether any object could be read with these credentials. */
  #hasRead = false;
  #deniedError: ConnectorError | undefined;
  /** Number of times an object was denied while others were not, by key. */
  readonly #denied = new Map<string, number>();
  #warnedNoRecords = false;
  readonly #store: ObjectSource;
  readonly #settings: InputSettings;
  readonly #clock: Clock;

  constructor(store: ObjectSource, settings: InputSettings, clock: Clock) {
    this.#store = store;
    this.#settings = settings;
    this.#clock = clock;
    const { prefix, layout, matches } = settings;
    this.#finder = new ObjectFinder({ store, prefix, layout, matches, now: () => clock.now() });
  }

  get intervalMs(): number {
    return Math.min(LONGEST_MS, Math.max(INTERVAL_MS, this.#finder.requests * PER_REQUEST_MS));
  }

  async *pages(cursor: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page, void, void> {
    const page = new PageBuilder();
    let progress = ObjectCursor.read(cursor);
    const savedUntil = progress?.doneUntil ?? Number.NEGATIVE_INFINITY;
    let fullListingAt = Number.NEGATIVE_INFINITY;
    try {
      for (let more = true; more;) {
        // Timestamps of objects have a resolution of one second.
        const start = (at: number): ObjectCursor =>
          (progress ??= ObjectCursor.from(this.#settings.since ?? at - (at % 1_000)));
        const found = await this.#finder.find((object, at) => !start(at).isDone(object), signal);
        const reached = start(found.at);
        if (found.full) fullListingAt = found.at;
        const denied: Listed[] = [];
        const ahead = new ReadAhead(
          this.#store,
          found.objects,
          (object) => reached.grownTo(object)?.offset ?? 0,
          signal,
        );
        ({ more } = found);
        for (const [index, object] of found.objects.entries()) {
          const outcome = yield* this.#read(object, () => ahead.read(index), reached, page, signal);
          if (outcome === 'denied') this.#setAside(object, denied);
          else reached.finish(object, denied[0] ?? found.objects[index + 1], fullListingAt);
          more ||= outcome === 'replaced';
          if (page.isFull) yield page.take(reached);
        }
        this.#giveUp(denied, reached, page, fullListingAt);
        if (found.full && !found.more && denied.length === 0) reached.completeListing(found.at);
        if (!page.isEmpty || found.objects.length > 0 || reached.doneUntil - savedUntil >= QUIET_MS)
          yield page.take(reached);
        more &&= denied.length === 0;
      }
    } catch (error) {
      // Commit the records before the error, so that retries don't read them again.
      if (progress && !page.isEmpty && !signal.aborted) yield page.take(progress);
      throw error;
    }
  }

  /** Reads one object, in as many pages as needed. */
  async *#read(
    object: Listed,
    bytes: () => AsyncGenerator<Uint8Array, void, void>,
    progress: ObjectCursor,
    page: PageBuilder,
    signal: AbortSignal,
  ): AsyncGenerator<Page, 'done' | 'replaced' | 'denied', void> {
    for (let tries = 1; ; tries += 1) {
      try {
        if (object.grows) {
          yield* this.#readGrowth(object, bytes(), progress, page);
          return 'done';
        }
        const before = progress.itemsOf(object);
        let items = 0;
        for await (const { found, length } of this.#parse(object, bytes())) {
          page.passed(length);
          for (const each of found) {
            items += 1;
            if (items <= before) continue;
            page.add(each);
            if (!page.isFull) continue;
            progress.setCurrent(object, items);
            yield page.take(progress);
          }
          if (items > before) progress.setCurrent(object, items);
        }
        if (items === 0) this.#warnNoRecords(page);
        return 'done';
      } catch (error) {
        if (error instanceof ObjectError) {
          const { fault, asFailure } = error;
          if (fault === 'gone') return 'done';
          if (fault === 'replaced') return fault;
          if (fault === 'denied') {
            this.#deniedError = asFailure;
            return fault;
          }
          skipObject(object, fault, page);
          return 'done';
        }
        if (!(error instanceof ContentError)) throw error;
        if (tries === MAX_TRIES) {
          skipObject(object, error.reason, page);
          return 'done';
        }
        await this.#clock.sleep(tries * 1_000, signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Reads the bytes appended to an object since the last read. */
  async *#readGrowth(
    object: Listed,
    bytes: AsyncGenerator<Uint8Array, void, void>,
    progress: ObjectCursor,
    page: PageBuilder,
  ): AsyncGenerator<Page, void, void> {
    const parser = new GrowingParser(progress.grownTo(object));
    const take = (grown: Iterable<Grown>): Page[] =>
      [...grown].flatMap(({ found, position }) => {
        for (const each of found) if (this.#isWanted(each)) page.add(each);
        progress.setGrown(object, position);
        return page.isFull ? [page.take(progress)] : [];
      });
    for await (const chunk of bytes) {
      this.#hasRead = true;
      page.passed(chunk.byteLength);
      yield* take(parser.push(chunk));
    }
    yield* take(parser.end());
    if (parser.position.offset > 0) progress.setGrown(object, parser.position);
  }

  #isWanted(found: Found): boolean {
    return !('record' in found) || (this.#settings.accepts?.(found.record) ?? true);
  }

  async *#parse({ key }: Listed, bytes: AsyncGenerator<Uint8Array, void, void>): AsyncGenerator<Parsed, void, void> {
    const { formatOf, ...settings } = this.#settings;
    for await (const parsed of parseObject(bytes, formatOf ? { ...settings, format: formatOf(key) } : settings)) {
      this.#hasRead = true;
      yield parsed;
    }
  }

  /**
   * Sets a denied object aside for another attempt.
   * @throws ConnectorError after `MAX_TRIES` denied objects if none could be read: the cause is not a
   * single object
   */
  #setAside(object: Listed, denied: Listed[]): void {
    denied.push(object);
    if (denied.length === MAX_TRIES && !this.#hasRead && this.#deniedError) throw this.#deniedError;
  }

  /**
   * Skips objects that were denied `MAX_TRIES` times while others were not. Leaves the others in
   * `denied` for a later attempt.
   * @throws ConnectorError if no object could be read
   */
  #giveUp(denied: Listed[], progress: ObjectCursor, page: PageBuilder, fullListingAt: number): void {
    if (denied.length > 0 && !this.#hasRead && this.#deniedError) throw this.#deniedError;
    for (const object of denied.splice(0)) {
      const times = (this.#denied.get(object.key) ?? 0) + 1;
      this.#denied.set(object.key, times);
      if (times < MAX_TRIES) {
        denied.push(object);
        continue;
      }
      this.#denied.delete(object.key);
      skipObject(object, 'denied', page);
      progress.finish(object, object, fullListingAt);
    }
  }

  /** Logs a warning once: a wrong record path would go unnoticed otherwise. */
  #warnNoRecords(page: PageBuilder): void {
    if (this.#warnedNoRecords || this.#settings.location === undefined) return;
    this.#warnedNoRecords = true;
    page.note('no_records', 'An object has no records at the configured path. Check the path.');
  }
}
