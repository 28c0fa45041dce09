import type { Coordinator, Lease } from '../coordinator/coordinator.js';
import type { Clock } from './clock.js';
import type { Counters } from './counters.js';
import type { Observer } from './observer.js';
import { reportOf } from './pipeline-state.js';

/** Heartbeats may be this far apart when there is no other news. */
const QUIET = 5_000;

export interface ReporterOptions {
  coordinator: Pick<Coordinator, 'report'>;
  pipelineId: string;
  clock: Clock;
  counters: Counters;
  observer: Observer;
}

/** Reports to the coordinator how a pipeline does, when there is news, and as a heartbeat. */
export class Reporter {
  #reported: { revision: string; at: number } | undefined;

  constructor(private readonly options: ReporterOptions) {}

  /** `false`: the lease is somebody else's by now. @param always also when there is no news */
  async report(lease: Lease, working: boolean, always: boolean): Promise<boolean> {
    const { coordinator, pipelineId, clock, counters, observer } = this.options;
    const observation = await observer.observe(working);
    const { full, ends } = observation;
    const revision = JSON.stringify([counters.revision, working, full, ends]);
    const now = clock.now();
    if (!always && revision === this.#reported?.revision && now - this.#reported.at < QUIET) return true;
    if (!(await coordinator.report(lease, pipelineId, reportOf(observation)))) return false;
    this.#reported = { revision, at: now };
    return true;
  }
}
