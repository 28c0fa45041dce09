import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import type { Clock } from '../connector-api/clock.js';
import type { Counters } from '../pipeline/counters.js';
import type { Observer } from './observer.js';
import { reportOf } from '../pipeline/pipeline-state.js';

/** Maximum milliseconds between heartbeats without changes. */
const HEARTBEAT_MS = 5_000;

export interface ReporterOptions {
  coordinator: Pick<Coordinator, 'report'>;
  pipelineId: string;
  clock: Clock;
  counters: Counters;
  observer: Observer;
  /** Called if records wait in the buffer: the next report is due soon, for processes that read it. */
  onBacklog?: (() => void) | undefined;
}

/** Reports the observed state of a pipeline to the coordinator on changes and as a heartbeat. */
export class Reporter {
  readonly #options: ReporterOptions;
  #reported: { revision: string; at: number } | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /**
   * Sends a report if it is due. Returns `false` if the lease was lost.
   * @param always reports even without changes
   */
  async report(lease: Lease, working: boolean, always: boolean): Promise<boolean> {
    const { coordinator, pipelineId, clock, counters, observer, onBacklog } = this.#options;
    const observation = await observer.observe(working);
    const { full, nodes, dropped, lost, suspension, waiting } = observation;
    if (waiting > 0) onBacklog?.();
    const backlog = onBacklog ? waiting : 0;
    const revision = JSON.stringify([counters.revision, working, full, nodes, dropped, lost, suspension, backlog]);
    const now = clock.now();
    if (!always && revision === this.#reported?.revision && now - this.#reported.at < HEARTBEAT_MS) return true;
    if (!(await coordinator.report(lease, pipelineId, reportOf(observation)))) return false;
    this.#reported = { revision, at: now };
    return true;
  }
}
