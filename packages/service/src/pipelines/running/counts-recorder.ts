import { isRecord, observationIn, stateOf, type JsonValue } from '@connector-frame/engine';
import type { CountsWriter } from '../../store/pipeline-counts.js';
import type { Pipeline } from '../../store/store.js';
import type { CountsByNode } from '../../store/tables.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds for which counts are kept by the minute. Older ones are kept by the hour. */
export const BY_MINUTE_MS = DAY;

export interface CountsRecorderOptions {
  writer: CountsWriter;
  /** Returns the reports that were stored since the last call, by pipeline id. */
  takeReports: () => ReadonlyMap<string, JsonValue>;
  /** Returns a pipeline, or `undefined` if it is unknown. */
  pipelineOf: (id: string) => Pipeline | undefined;
  now: () => number;
  /** Days for which counts are kept. */
  days: number;
}

/**
 * Stores what the pipelines have counted, once a minute. Takes the counts from stored reports, so
 * that they never go back after a crash.
 */
export class CountsRecorder {
  readonly #options: CountsRecorderOptions;
  /** Counts that are not stored yet, by pipeline id. */
  #pending = new Map<string, CountsByNode>();
  #thinnedAt: number | undefined;
  #thinnedBefore: Date | undefined;

  constructor(options: CountsRecorderOptions) {
    this.#options = options;
  }

  /** Stores the counts that have changed since the last call, as those of the last minute. */
  async record(): Promise<void> {
    const { writer, takeReports, pipelineOf, now } = this.#options;
    for (const [id, report] of takeReports()) {
      const pipeline = pipelineOf(id);
      const counts = pipeline && countsIn(pipeline, report);
      if (counts) this.#pending.set(id, counts);
    }
    const time = now();
    if (this.#pending.size > 0) await writer.put(new Date(Math.floor((time - 1) / MINUTE) * MINUTE), this.#pending);
    this.#pending = new Map();
    await this.#thin(time);
  }

  async #thin(time: number): Promise<void> {
    if (this.#thinnedAt !== undefined && Math.abs(time - this.#thinnedAt) < HOUR) return;
    const { writer, days } = this.#options;
    const hourlyBefore = new Date(Math.floor((time - BY_MINUTE_MS) / HOUR) * HOUR);
    await writer.thin({ hourlyBefore, before: new Date(time - days * DAY), thinnedBefore: this.#thinnedBefore });
    this.#thinnedAt = time;
    this.#thinnedBefore = hourlyBefore;
  }
}

function countsIn(pipeline: Pipeline, report: JsonValue): CountsByNode | undefined {
  const observation = observationIn(isRecord(report) ? (report['value'] ?? null) : null);
  if (!observation) return undefined;
  const { nodes } = stateOf(pipeline, { enabled: true, held: true, observation }, 0);
  return Object.fromEntries(
    nodes.map(({ node_id, component_type: type, ingress, egress, errors, failed_attempts }) => [
      node_id,
      { type, ingress, egress, errors, ...(failed_attempts > 0 && { failed_attempts }) },
    ]),
  );
}
