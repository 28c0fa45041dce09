import type { LogEntry } from '@connector-frame/engine';
import type { FollowedEntry, LogFilter } from '../engine.js';
import type { LogSource } from './log-lines.js';

/** New entries that wait for a slow reader. */
const MAX_WAITING = 1_000;

interface Follower {
  readonly filter: LogFilter;
  readonly waiting: FollowedEntry[];
  /** No further entries are queued; the stream ends after those that wait. */
  ended: boolean;
  wake: () => void;
}

/** Returns whether a filter selects an entry of a source. */
export function selects(filter: LogFilter, { organizationId, pipelineId }: LogSource, entry: LogEntry): boolean {
  return (
    organizationId === filter.organizationId &&
    (filter.source === undefined || (filter.source === 'api') === (pipelineId === undefined)) &&
    (filter.pipelineId === undefined || filter.pipelineId === pipelineId) &&
    (filter.nodeId === undefined || filter.nodeId === entry.nodeId)
  );
}

/** Distributes new entries to the streams that select them. */
export class LogFollowers {
  readonly #followers = new Set<Follower>();

  /** Queues an entry for each stream that selects it. */
  add(source: LogSource, entry: LogEntry): void {
    for (const follower of this.#followers) {
      if (follower.ended || !selects(follower.filter, source, entry)) continue;
      // An entry that is left out would be a gap. The client reconnects and reads the stored ones.
      if (follower.waiting.length >= MAX_WAITING) follower.ended = true;
      else follower.waiting.push(followed(source, entry));
      follower.wake();
    }
  }

  /** Ends the streams of one pipeline. */
  end(pipelineId: string): void {
    for (const follower of this.#followers) {
      if (follower.filter.pipelineId !== pipelineId) continue;
      follower.ended = true;
      follower.wake();
    }
  }

  /**
   * Yields `past`, then new entries, until `signal` is aborted, the pipeline is removed, or the
   * reader is so slow that more than 1,000 entries wait.
   * @param past called once, in the same step in which the queue starts: no entry is in both or none
   */
  async *follow(
    filter: LogFilter,
    signal: AbortSignal,
    past: () => readonly FollowedEntry[],
  ): AsyncGenerator<FollowedEntry, void, void> {
    const follower: Follower = { filter, waiting: [], ended: false, wake: () => undefined };
    const stop = (): void => follower.wake();
    this.#followers.add(follower);
    signal.addEventListener('abort', stop);
    try {
      for (const entry of past()) {
        if (signal.aborted) return;
        yield entry;
      }
      while (!signal.aborted) {
        const next = follower.waiting.shift();
        if (next) yield next;
        else if (follower.ended) return;
        else
          await new Promise<void>((resolve) => {
            follower.wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#followers.delete(follower);
    }
  }

  /** Number of open streams. */
  get size(): number {
    return this.#followers.size;
  }
}

/** Adds the pipeline to an entry. */
export const followed = ({ pipelineId }: LogSource, entry: LogEntry): FollowedEntry =>
  pipelineId === undefined ? entry : { ...entry, pipelineId };
