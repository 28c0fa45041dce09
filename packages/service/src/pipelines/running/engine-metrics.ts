import type { LetterCounts, Losses, NodeCounts, PipelineStatus } from '@connector-frame/engine';
import type { EngineMetrics } from '../../metrics.js';
import type { RunningPipeline } from './running-pipeline.js';

/** Sums the throughput of all pipelines, including those removed since. */
export class EngineMetricsRecorder {
  readonly #totals: NodeCounts = {
    ingress: { records: 0, bytes: 0 },
    egress: { records: 0, bytes: 0 },
    errors: 0,
  };
  readonly #letters: LetterCounts = { stored: 0, dropped: 0, replayed: 0 };
  readonly #losses: Losses = { dropped: 0, lost: 0 };
  readonly #sampledLosses = new WeakMap<RunningPipeline, Losses>();
  readonly #revisions = new WeakMap<RunningPipeline, number>();
  readonly #maxLabeled: number;
  readonly #labeled = new Set<string>();

  /** @param maxLabeled number of pipelines with series of their own */
  constructor(maxLabeled: number) {
    this.#maxLabeled = maxLabeled;
  }

  /**
   * Samples every pipeline whose counts have changed since the last call.
   * @param interval start of the interval that has just ended, in milliseconds since the epoch
   */
  sample(pipelines: Iterable<RunningPipeline>, interval: number): void {
    for (const pipeline of pipelines) {
      if (pipeline.isHeld) this.#sampleLosses(pipeline);
      const { revision } = pipeline;
      if (revision === undefined || this.#revisions.get(pipeline) === revision) continue;
      this.#revisions.set(pipeline, revision);
      const { ingress, egress, errors } = pipeline.history.sample(pipeline.summary(), interval);
      // The process that runs it counts it.
      if (!pipeline.isHeld) continue;
      this.#totals.ingress.records += ingress.records;
      this.#totals.ingress.bytes += ingress.bytes;
      this.#totals.egress.records += egress.records;
      this.#totals.egress.bytes += egress.bytes;
      this.#totals.errors += errors;
      this.#addLetters(pipeline);
    }
  }

  #addLetters(pipeline: RunningPipeline): void {
    const { letters, sampledLetters: before } = pipeline;
    if (!letters) return;
    for (const kind of ['stored', 'dropped', 'replayed'] as const)
      this.#letters[kind] += Math.max(0, letters[kind] - (before?.[kind] ?? 0));
    pipeline.sampledLetters = letters;
  }

  #sampleLosses(pipeline: RunningPipeline): void {
    const { losses } = pipeline;
    if (!losses) return;
    const before = this.#sampledLosses.get(pipeline);
    for (const kind of ['dropped', 'lost'] as const) {
      // A new runner counts from zero again.
      const known = before && before[kind] <= losses[kind] ? before[kind] : 0;
      this.#losses[kind] += losses[kind] - known;
    }
    this.#sampledLosses.set(pipeline, losses);
  }

  /**
   * Selects the pipelines that have series of their own: the first ones that were seen. A pipeline
   * keeps its series until it is removed; then another one gets its place.
   */
  select(pipelines: Iterable<RunningPipeline>): { labeled: RunningPipeline[]; unlabeled: number } {
    const running = new Map([...pipelines].map((pipeline) => [pipeline.id, pipeline]));
    for (const id of this.#labeled) if (!running.has(id)) this.#labeled.delete(id);
    for (const id of running.keys()) {
      if (this.#labeled.size >= this.#maxLabeled) break;
      this.#labeled.add(id);
    }
    const labeled = [...this.#labeled].flatMap((id) => running.get(id) ?? []);
    return { labeled, unlabeled: running.size - labeled.length };
  }

  collect(pipelines: Iterable<RunningPipeline>): EngineMetrics {
    const statuses = new Map<PipelineStatus, number>();
    for (const pipeline of pipelines) {
      if (!pipeline.isHeld) continue;
      const { status } = pipeline.summary();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    return { totals: this.#totals, letters: this.#letters, losses: this.#losses, statuses };
  }
}
