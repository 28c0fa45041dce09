import type { RunningPipeline } from './running-pipeline.js';

const NONE: ReadonlySet<RunningPipeline> = new Set();

/** Index of pipelines by input connector. */
export class InputIndex {
  readonly #pipelines = new Map<string, Set<RunningPipeline>>();
  readonly #inputs = new Map<RunningPipeline, readonly string[]>();

  /** Returns the pipelines that receive the records pushed to this input. */
  of(connectorId: string): ReadonlySet<RunningPipeline> {
    return this.#pipelines.get(connectorId) ?? NONE;
  }

  /** @param connectorIds the pipeline's inputs; empty if it was removed */
  set(pipeline: RunningPipeline, connectorIds: readonly string[]): void {
    for (const id of this.#inputs.get(pipeline) ?? []) {
      const others = this.#pipelines.get(id);
      others?.delete(pipeline);
      if (others?.size === 0) this.#pipelines.delete(id);
    }
    if (connectorIds.length === 0) this.#inputs.delete(pipeline);
    else this.#inputs.set(pipeline, connectorIds);
    for (const id of connectorIds) {
      const others = this.#pipelines.get(id);
      if (others) others.add(pipeline);
      else this.#pipelines.set(id, new Set([pipeline]));
    }
  }
}
