import type { Bus } from '../bus/bus.js';
import type { DeadLetters } from '../delivery/dead-letters.js';
import type { Counters } from '../pipeline/counters.js';
import type { Health } from '../pipeline/health.js';
import type { PipelineLog } from '../pipeline/pipeline-log.js';
import type { Observation } from '../pipeline/pipeline-state.js';

/** The parts of a pipeline that its worker observes. */
export interface ObserverParts {
  bus: Bus;
  /** Stream of a push input. */
  stream: string | undefined;
  counters: Counters;
  health: Health;
  deadLetters: DeadLetters;
  log: PipelineLog;
}

/**
 * Observes a pipeline from inside its worker, and logs changes of the buffer since the last
 * observation.
 */
export class Observer {
  readonly #parts: ObserverParts;
  #damaged = 0;
  #full = false;

  constructor(parts: ObserverParts) {
    this.#parts = parts;
  }

  /** The buffer was full at the last observation. */
  get full(): boolean {
    return this.#full;
  }

  async observe(working: boolean): Promise<Observation> {
    const { bus, stream, counters, health, deadLetters, log } = this.#parts;
    const stats = stream === undefined ? undefined : await bus.stats(stream);
    if (stats && stats.damagedBytes > this.#damaged) {
      const message = `${stats.damagedBytes - this.#damaged} bytes of the buffer could not be read; what they held is lost.`;
      log.add({ level: 'error', code: 'buffer_damaged', message });
    }
    if (stats?.full && !this.#full)
      log.add({ level: 'warn', code: 'buffer_full', message: 'buffer full; rejecting new records' });
    this.#damaged = stats?.damagedBytes ?? 0;
    this.#full = stats?.full ?? false;
    const { lastError } = health;
    // Unreadable dead letters must not stop the reports.
    const letters = Object.entries(await deadLetters.stats().catch(() => ({})));
    return {
      working,
      full: this.#full,
      waiting: stats?.records ?? 0,
      nodes: health.facts,
      counts: counters.toJson(),
      deadLetters: Object.fromEntries(letters.map(([id, { count }]) => [id, count])),
      ...(lastError && { lastError }),
    };
  }
}
