import type { NodeCounts, PipelineStatus } from '@connector-frame/engine';
import type { RunningPipeline } from './running-pipeline.js';

/** What an operator watches of the engine. */
export interface EngineFigures {
  /** Moved by all pipelines since this process began; never falls. */
  totals: NodeCounts;
  /** How many pipelines do how. */
  statuses: ReadonlyMap<PipelineStatus, number>;
}

/** Adds up what pipelines move, also of those that are gone since. */
export class FigureKeeper {
  readonly #totals: NodeCounts = {
    ingress: { records: 0, bytes: 0 },
    egress: { records: 0, bytes: 0 },
    errors: 0,
  };
  readonly #revisions = new WeakMap<RunningPipeline, number>();

  /**
   * Takes the counts of all that were counted since the last time.
   * @param interval that is just over
   */
  sample(pipelines: Iterable<RunningPipeline>, interval: number): void {
    for (const pipeline of pipelines) {
      const { revision } = pipeline;
      if (revision === undefined || this.#revisions.get(pipeline) === revision) continue;
      this.#revisions.set(pipeline, revision);
      const { ingress, egress, errors } = pipeline.history.sample(pipeline.summary(), interval);
      this.#totals.ingress.records += ingress.records;
      this.#totals.ingress.bytes += ingress.bytes;
      this.#totals.egress.records += egress.records;
      this.#totals.egress.bytes += egress.bytes;
      this.#totals.errors += errors;
    }
  }

  figures(pipelines: Iterable<RunningPipeline>): EngineFigures {
    const statuses = new Map<PipelineStatus, number>();
    for (const pipeline of pipelines) {
      const { status } = pipeline.summary();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    return { totals: this.#totals, statuses };
  }
}
