import type { JsonValue } from '@connector-frame/engine/connector-api';
import type { GrowthPosition } from './growing-parser.js';
import { keyHashOf } from './object-hash.js';
import type { Listed } from './store.js';

/** Maximum number of objects remembered: of about 35 bytes each in the cursor. */
const MAX_OBJECTS = 5_000;

interface Entry extends GrowthPosition {
  /** When the object was written last, in milliseconds since the epoch. */
  time: number;
}

/** Remembers how far objects that grow were read. Forgets those first that have not grown for longest. */
export class GrownObjects {
  readonly #entries = new Map<string, Entry>();

  /** Parses what `toJson` returned. Ignores malformed entries. */
  static read(saved: JsonValue | undefined): GrownObjects {
    const objects = new GrownObjects();
    for (const entry of Array.isArray(saved) ? saved : []) {
      if (!Array.isArray(entry)) continue;
      const [hash, time, offset, nested] = entry;
      if (typeof hash !== 'string' || typeof time !== 'number' || typeof offset !== 'number') continue;
      objects.#entries.set(hash, { time, offset, nested: nested === 1 });
    }
    return objects;
  }

  get size(): number {
    return this.#entries.size;
  }

  toJson(): JsonValue {
    return [...this.#entries].map(([hash, { time, offset, nested }]) => [hash, time, offset, nested ? 1 : 0]);
  }

  get(object: Listed): GrowthPosition | undefined {
    return this.#entries.get(keyHashOf(object));
  }

  set(object: Listed, { offset, nested }: GrowthPosition): void {
    this.#entries.set(keyHashOf(object), { time: object.time, offset, nested });
    if (this.#entries.size <= MAX_OBJECTS) return;
    const oldest = [...this.#entries].toSorted(([, a], [, b]) => a.time - b.time).slice(0, MAX_OBJECTS / 10);
    for (const [hash] of oldest) this.#entries.delete(hash);
  }
}
