import {
  type Amount,
  type Appended,
  type AppendOptions,
  type DeadLetters,
  type EdgeSchemas,
  type LogEntry,
  type NewLogEntry,
  PipelineLog,
  type PipelineState,
  type Purged,
  type RecordSample,
  type WaitingRecord,
} from '@connector-frame/engine';
import type { Pipeline } from '../store/store.js';

/** Throughput of a pipeline in one interval. */
export interface MetricsPoint {
  /** Start of the interval, in milliseconds since the epoch. */
  time: number;
  /** Accepted and durably stored. */
  ingress: Amount;
  /** Written by outputs. */
  egress: Amount;
  /** Records that failed permanently. */
  errors: number;
}

export interface PipelineMetrics {
  intervalSeconds: number;
  /** Oldest first, without gaps. Covers at most the last ten minutes. */
  points: readonly MetricsPoint[];
}

/**
 * `stored: true`: the records are on disk for every pipeline that uses the input, and may be
 * acknowledged. `full`, because an output is too slow, and `no_space`, because the disk has too
 * little free space: the sender must retry later with all of them. `suspended`: a quota of the
 * organization is used up, or its account is suspended. `closed`: this process does not
 * accept records, because it runs no engine or is shutting down. `no_pipeline`: no pipeline uses
 * the input. `unknown`: no pipeline is known to use the input, but the database that would show it
 * does not respond.
 */
export type Ingested = Appended | { stored: false; reason: 'no_pipeline' | 'unknown' };

/**
 * Operations on what waits in one pipeline. Only a process that runs the pipeline, or can ask that one, has
 * them. They reject with a `ConnectorError` if that process does not respond.
 */
export interface PipelineDelivery {
  /** Ends all waits before a retry. Returns how many there were. */
  retryNow(): number | Promise<number>;
  /** Reads a polled input now, unless it is being read. Returns whether the input is polled. */
  trigger(): boolean | Promise<boolean>;
  /** Returns records that could not be delivered to a node yet, oldest first. */
  waitingRecords(nodeId: string, limit: number): readonly WaitingRecord[] | Promise<readonly WaitingRecord[]>;
  /** Deletes the backlog and the dead letters of a node, or of all nodes. */
  purge(nodeId?: string): Promise<Purged>;
  readonly deadLetters: Pick<DeadLetters, 'list' | 'get' | 'delete' | 'purge' | 'replay' | 'stats'>;
}

/** The schemas of the records on the edges of a pipeline. Only the process that runs it has them. */
export interface PipelineSchemas extends Pick<EdgeSchemas, 'state'> {
  /** Ends the learning of an edge. Returns `false` if it is not observed. */
  graduate(edgeId: string): boolean | Promise<boolean>;
  /** Makes an edge learn again. Returns `false` if it is not observed. */
  reset(edgeId: string): boolean | Promise<boolean>;
  /** Whether another process observes the edges, so that `state` knows nothing. */
  readonly isRemote?: true;
}

/** Selects entries of the logs of one organization. Without further properties: all. */
export interface LogFilter {
  organizationId: string;
  source?: 'api' | 'pipelines';
  pipelineId?: string;
  nodeId?: string;
}

/** Where a stream of log entries begins. */
export interface LogStart {
  /** Sequence of the last entry that the reader knows. Takes precedence over `since`. */
  after?: number;
  /** Milliseconds since the epoch, inclusive. */
  since?: number;
}

/** A log entry with the pipeline it belongs to, if any. */
export interface FollowedEntry extends LogEntry {
  readonly pipelineId?: string;
}

/** The engine that runs pipelines, as seen by the API. */
export interface PipelineEngine {
  /**
   * Returns the observed state of a pipeline, which may not be stored yet. `Unknown` if it can't be
   * determined. Must not be called inside a transaction.
   */
  status(pipeline: Pick<Pipeline, 'id' | 'nodes' | 'edges' | 'enabled'>): Promise<PipelineState>;
  /**
   * Notifies the engine that a pipeline, or a component of it, was committed or removed. The
   * notification may be duplicated, and is lost if the process ends; the database is authoritative.
   * Returns immediately.
   * @param nodes the current nodes, if the caller knows them: from this call on, records pushed to
   *   their inputs reach the pipeline
   */
  changed(pipelineId: string, nodes?: Pipeline['nodes']): void;
  /**
   * Notifies the engine that alert rules were committed or removed. The notification may be lost: the
   * engine looks for changes at each evaluation.
   */
  rulesChanged(): void;
  /** Returns what waits in a pipeline, or `undefined` if this process does not run it. */
  delivery(pipelineId: string): PipelineDelivery | undefined;
  /**
   * Yields some of the records that leave a node from now on, until `signal` is aborted or the
   * pipeline is removed. Delivery never waits for the reader. `undefined` if this process does not
   * run the pipeline.
   */
  samples(pipelineId: string, nodeId: string, signal: AbortSignal): AsyncIterable<RecordSample> | undefined;
  /** Returns what is observed on edges, or `undefined` if this process does not run the pipeline. */
  schemas(pipelineId: string): PipelineSchemas | undefined;
  /** Returns recent throughput, measured since this process started. */
  metrics(pipelineId: string): PipelineMetrics;
  /** Returns recent log entries, oldest first, also those of earlier processes. */
  log(pipelineId: string, limit?: number): readonly LogEntry[] | Promise<readonly LogEntry[]>;
  /**
   * Yields the log entries after sequence number `after`, then new entries until `signal` is
   * aborted or the pipeline is removed.
   */
  tail(pipelineId: string, signal: AbortSignal, after?: number): AsyncIterable<LogEntry>;
  /**
   * Yields the stored entries of an organization in the order of their sequence, then new ones, until
   * `signal` is aborted, the filter's pipeline is removed, or too many wait for a slow reader, which
   * resumes after the last one it got.
   */
  followLogs(filter: LogFilter, signal: AbortSignal, start?: LogStart): AsyncIterable<FollowedEntry>;
  /** Adds an entry to the log of an organization's API. */
  logRequest(organizationId: string, entry: NewLogEntry): void;
  /**
   * Appends pushed records to every pipeline that uses the input, paused or not. Does not query the
   * database.
   * @param lines records, each serialized as one JSON object
   * @throws BusError when the disk fails
   */
  append(connectorId: string, lines: readonly string[], options?: AppendOptions): Promise<Ingested>;
}

const ZERO = { bytes: 0, records: 0 } as const;
const NO_LETTERS = { waiting: 0, stored: 0, dropped: 0, replayed: 0 } as const;

/** Engine of a process that runs no pipelines, so nothing is measured. */
export const noEngine: PipelineEngine = {
  status: ({ id, nodes }) =>
    Promise.resolve({
      pipeline_id: id,
      status: 'Unknown',
      suspension: null,
      ingress: ZERO,
      egress: ZERO,
      errors: 0,
      last_ingested_time: null,
      last_error: null,
      needs_attention: null,
      dead_letters: NO_LETTERS,
      waiting: 0,
      dropped: 0,
      lost: null,
      nodes: nodes.map((node) => ({
        node_id: node.id,
        node_slug: node.slug,
        component_type: node.component_type,
        status: 'Unknown',
        ingress: ZERO,
        egress: ZERO,
        errors: 0,
        failed_attempts: 0,
        dead_letters: NO_LETTERS,
        error: null,
        next_attempt_time: null,
        needs_attention: false,
        dropped: 0,
      })),
    }),
  changed: () => undefined,
  rulesChanged: () => undefined,
  delivery: () => undefined,
  samples: () => undefined,
  schemas: () => undefined,
  metrics: () => ({ intervalSeconds: 10, points: [] }),
  log: () => [],
  tail: (_pipelineId, signal) => new PipelineLog(Date.now).tail(signal),
  followLogs: (_filter, signal) => new PipelineLog(Date.now).tail(signal),
  logRequest: () => undefined,
  append: () => Promise.resolve({ stored: false, reason: 'closed' }),
};
