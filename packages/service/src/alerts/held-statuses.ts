import { isRecord, type JsonValue, type PipelineStatus } from '@connector-frame/engine';
import type { WatchedPipeline } from './watched-pipeline.js';

/** Statuses that rules can be about. */
const WATCHED: ReadonlySet<PipelineStatus> = new Set(['Erroring', 'Throttled']);
/** Statuses that say nothing yet: the pipeline is starting, also after each change of it. */
const STARTING: ReadonlySet<PipelineStatus> = new Set(['Pending', 'Initializing', 'Unknown']);
/** Milliseconds for which a pipeline may be starting until what it had before is over. */
const GRACE_MS = 60_000;

interface Held {
  status: string;
  since: number;
  /** When it was observed last. */
  seen: number;
}

/** Since when pipelines are erroring or throttled. */
export class HeldStatuses {
  readonly #held = new Map<string, Held>();

  /**
   * @param saved what `toJson` returned in an earlier process
   * @param now milliseconds since the epoch; what lasted before has the grace period from then on
   */
  constructor(saved: JsonValue | undefined, now: number) {
    for (const [id, value] of Object.entries(isRecord(saved) ? saved : {})) {
      const { status, since } = isRecord(value) ? value : {};
      if (typeof status === 'string' && typeof since === 'number') this.#held.set(id, { status, since, seen: now });
    }
  }

  /** Records the status of a pipeline. */
  observed({ id, status }: Pick<WatchedPipeline, 'id' | 'status'>, now: number): void {
    const held = this.#held.get(id);
    if (WATCHED.has(status)) {
      if (held?.status === status && now - held.seen <= GRACE_MS) held.seen = now;
      else this.#held.set(id, { status, since: now, seen: now });
    } else if (held && !(STARTING.has(status) && now - held.seen <= GRACE_MS)) this.#held.delete(id);
  }

  /** Forgets removed pipelines. */
  retain(exists: (id: string) => boolean): void {
    for (const id of this.#held.keys()) if (!exists(id)) this.#held.delete(id);
  }

  /** Returns since when a pipeline has this status, in milliseconds since the epoch. */
  since(id: string, status: PipelineStatus): number | undefined {
    const held = this.#held.get(id);
    return held?.status === status ? held.since : undefined;
  }

  toJson(): JsonValue {
    return Object.fromEntries([...this.#held].map(([id, { status, since }]) => [id, { status, since }]));
  }
}
