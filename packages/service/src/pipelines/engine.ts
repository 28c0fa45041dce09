import { PipelineLog, type Amount, type Appended, type AppendOptions, type LogEntry } from '@connector-frame/engine';
import type { PipelineState } from '@connector-frame/engine';
import type { Pipeline } from '../store/store.js';

/** What a pipeline moved within one interval. */
export interface MetricsPoint {
  /** Begin of the interval, milliseconds since the epoch. */
  time: number;
  /** Taken in for good. */
  ingress: Amount;
  /** Written by outputs. */
  egress: Amount;
  /** Records refused for good. */
  errors: number;
}

export interface PipelineMetrics {
  intervalSeconds: number;
  /** Oldest first, without gaps; of the last ten minutes at most. */
  points: readonly MetricsPoint[];
}

/**
 * `stored: true`: on disk for every pipeline in which the input stands, and may be acknowledged. `full`: come again later
 * with all of them. `closed`: it is not taken in here (no engine, or it is just ending). `no_pipeline`: the input stands in none.
 */
export type Ingested = Appended | { stored: false; reason: 'no_pipeline' };

/** What runs pipelines, as the API sees it. */
export interface PipelineEngine {
  /**
   * How a pipeline does, measured; also one that is about to be made. `Unknown` where it can't be told. Asked outside of
   * transactions only.
   */
  status(pipeline: Pick<Pipeline, 'id' | 'nodes' | 'edges' | 'enabled'>): Promise<PipelineState>;
  /**
   * A pipeline, or something that stands in it, was committed or removed. A hint: it may come twice, and is lost with the
   * process; what holds is in the store. Returns at once.
   * @param nodes as they are now, from who knows: what is pushed to an input from here on reaches the pipeline
   */
  changed(pipelineId: string, nodes?: Pipeline['nodes']): void;
  /** What it moved lately, measured, since this process began. */
  metrics(pipelineId: string): PipelineMetrics;
  /** What it did lately, oldest first. */
  log(pipelineId: string, limit?: number): readonly LogEntry[];
  /** The log after the entry `after`, then what comes, until `signal` is aborted or the pipeline is removed. */
  tail(pipelineId: string, signal: AbortSignal, after?: number): AsyncIterable<LogEntry>;
  /**
   * Takes pushed records in, for each pipeline in which the input stands, paused or not. Asks no database.
   * @param lines records, each as the JSON of one object
   * @throws BusError when the disk fails
   */
  append(connectorId: string, lines: readonly string[], options?: AppendOptions): Promise<Ingested>;
}

const NOTHING = { bytes: 0, records: 0 } as const;

/** Nothing runs here, so nothing was measured. */
export const noEngine: PipelineEngine = {
  status: ({ id, nodes }) =>
    Promise.resolve({
      pipeline_id: id,
      status: 'Unknown',
      ingress: NOTHING,
      egress: NOTHING,
      errors: 0,
      last_ingested_time: null,
      last_error: null,
      waiting: 0,
      nodes: nodes.map((node) => ({
        node_id: node.id,
        node_slug: node.slug,
        component_type: node.component_type,
        status: 'Unknown',
        ingress: NOTHING,
        egress: NOTHING,
        errors: 0,
      })),
    }),
  changed: () => undefined,
  metrics: () => ({ intervalSeconds: 10, points: [] }),
  log: () => [],
  tail: (_pipelineId, signal) => new PipelineLog(Date.now).tail(signal),
  append: () => Promise.resolve({ stored: false, reason: 'closed' }),
};
