import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  EdgeSchemas,
  isRecord,
  PipelineRunner,
  RecordSamples,
  stateOf,
  type Appended,
  type AppendOptions,
  type Bus,
  type Coordinator,
  type JsonValue,
  type LetterCounts,
  type LetterStorage,
  type LogEntry,
  type Losses,
  type NotStored,
  type Observation,
  type PipelineLog,
  type PipelineState,
  type PipelineStatus,
  type RecordSample,
  type RunnerLimits,
  type SchemaEvent,
  type Suspension,
} from '@connector-frame/engine';
import type { SpanCounts, TotalCounts } from '../../alerts/counts.js';
import type { LastError, WatchedPipeline } from '../../alerts/watched-pipeline.js';
import type { OrganizationVault } from '../../secrets/vault.js';
import type { RunningRow } from '../../store/running-pipelines.js';
import type { Pipeline, Reseal } from '../../store/store.js';
import type { NodeMeasurement } from '../../node-metrics.js';
import type { EdgeSchemaWriter } from '../../store/edge-schemas.js';
import type { UsageMeter } from '../../usage/usage-meter.js';
import type { PipelineDelivery, PipelineSchemas } from '../engine.js';
import { isDetected, isTold } from '../schema-detection.js';
import { componentsOf, openedOf, type ComponentTools } from './components-of.js';
import { resolverOf } from '../transform-secrets.js';
import { fingerprintOf } from './fingerprint.js';
import { meteredNodes } from './metered-nodes.js';
import { MetricsHistory } from './metrics-history.js';
import type { PipelineLogs } from './pipeline-logs.js';

export interface RunningTools extends ComponentTools {
  bus: Bus;
  coordinator: Coordinator;
  holder: string;
  /** Contains one folder per pipeline. */
  folder: string;
  logs: EngineLogs;
  vaultOf: (organizationId: string) => Promise<OrganizationVault>;
  /** Stores resealed secrets. Never rejects: the next start retries failures. */
  reseal: (reseals: readonly Reseal[]) => Promise<void>;
  schemas: EdgeSchemaWriter;
  /** Stores where an input that delivers alerts begins, unless it is stored. */
  beginFeed?: (pipelineId: string, nodeId: string) => Promise<void>;
  meter: Pick<UsageMeter, 'of'>;
  /** Absent: only this process runs pipelines. */
  shared?: SharedTools;
  /** Returns why the pipelines of an organization are suspended. */
  suspensionOf: (organizationId: string) => Suspension | undefined;
  limits: () => Partial<RunnerLimits>;
}

/** The logs of pipelines and of the API. */
export interface EngineLogs extends Pick<PipelineLogs, 'of' | 'ofApi' | 'follow'> {
  remove(pipelineId: string): void | Promise<void>;
}

/** What is different if several processes run the pipelines of a database together. */
export interface SharedTools {
  /** Returns the bus, for a version of a pipeline. */
  busAt: (version: number) => Bus;
  /** Returns where the dead letters of a pipeline are. */
  lettersOf: (pipelineId: string) => LetterStorage;
}

/** What the process that runs a pipeline has reported. */
export interface Reported {
  observation: Observation | undefined;
  /** Whether a process runs it. */
  isHeld: boolean;
  /** Changes with each report. */
  revision: number;
}

/** Type of the inputs whose records are alerts. */
const ALERTS_INPUT = 'monad-alerts';
const CLOSED: Appended = { stored: false, reason: 'closed' };

/**
 * One pipeline of the embedded engine. A change may recreate its runner; its log and metrics
 * continue.
 */
export class RunningPipeline {
  readonly id: string;
  readonly history = new MetricsHistory();
  /**
   * Stamp of the row that was applied last. If the database has another one, the pipeline has
   * changed.
   */
  stamp: string | undefined;
  /** Counts of dead letters when the metrics were sampled last. */
  sampledLetters: LetterCounts | undefined;
  readonly #tools: RunningTools;
  readonly #samples: RecordSamples;
  readonly #schemas: EdgeSchemas;
  #runner: PipelineRunner | undefined;
  #fingerprint: string | undefined;
  #pipeline: Pipeline | undefined;
  #organizationId: string | undefined;
  #enabledSince: number | undefined;
  #deliversAlerts = false;
  #row: RunningRow | undefined;
  #reported: Reported | undefined;
  /** Counts of discarded runners for the process that runs the pipeline. */
  #diverted: JsonValue[] = [];
  #failure: { at: number; code: string; message: string } | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** Set while appended records have to wait for a runner. */
  #ready: Promise<void> | undefined;
  #releaseAppends: () => void = () => undefined;
  #removed = false;
  readonly #stopped = new AbortController();

  constructor(id: string, tools: RunningTools) {
    this.id = id;
    this.#tools = tools;
    this.#samples = new RecordSamples(() => tools.clock.now());
    this.#schemas = new EdgeSchemas(() => tools.clock.now());
    this.#holdAppends();
  }

  /** Applies the row from the database. Rejects if that is not possible at the moment. */
  apply(row: RunningRow): Promise<void> {
    return this.#serialize(async () => {
      if (this.stamp === row.stamp || this.#stopped.signal.aborted) return;
      const fingerprint = fingerprintOf(row);
      // Before the first entry: streams of an organization select entries by it.
      this.#organizationId = row.pipeline.organizationId;
      try {
        // Saving without a change retries at once: the cause may have been outside.
        if (!this.#runner || fingerprint !== this.#fingerprint) await this.#createRunner(row);
        else if (row.pipeline.enabled !== this.#pipeline?.enabled) {
          await (row.pipeline.enabled ? this.#runner.resume() : this.#runner.pause());
        } else this.#runner.retryNow();
        this.#noteEnabled(row.pipeline);
        this.#deliversAlerts = alertsInputOf(row) !== undefined;
        this.#pipeline = row.pipeline;
        this.stamp = row.stamp;
        this.#failure = undefined;
      } catch (error) {
        this.#fail();
        throw error;
      }
    });
  }

  /**
   * Appends records, after waiting for the runner if it is being recreated. Returns `undefined` if
   * the pipeline was removed.
   */
  async append(lines: readonly string[], options?: AppendOptions): Promise<Appended | undefined> {
    for (;;) {
      if (this.#ready) await this.#ready;
      if (this.#removed) return undefined;
      const runner = this.#runner;
      if (!runner) return CLOSED;
      try {
        const appended = await runner.sink.append(lines, options);
        // The runner was closed to be recreated: the next runner takes the records.
        const isLast = this.#ready === undefined && this.#runner === runner && !this.#removed;
        if (appended.stored || appended.reason !== 'closed' || isLast) return appended;
      } catch (error) {
        if (!this.#removed) throw error;
      }
    }
  }

  /** Returns why the pipeline accepts no records now, or `undefined` if it does. */
  async full(): Promise<NotStored | undefined> {
    try {
      return await this.#runner?.full();
    } catch {
      // `append` reports the error.
      return undefined;
    }
  }

  /** Whether this process runs the pipeline. */
  get isHeld(): boolean {
    return this.#tools.shared === undefined || this.#runner?.isHeld === true;
  }

  /** Applies that the pipeline was assigned to this process, or to another one. Never rejects. */
  async assignmentChanged(): Promise<void> {
    await this.#runner?.reconcile();
    await this.#renewSpent();
  }

  /** Lets another process run the pipeline; resolves once its lease is released. Never rejects. */
  async handOver(): Promise<void> {
    await this.#serialize(async () => {
      // The next process continues with them.
      await this.storeSchemas(true).catch(() => undefined);
      await this.#runner?.handOver();
    }).catch(() => undefined);
    await this.#renewSpent();
  }

  /** Replaces a runner that can't run the pipeline again by one that only accepts records. */
  async #renewSpent(): Promise<void> {
    if (this.#runner?.isSpent !== true) return;
    await this.#serialize(async () => {
      if (!this.#row || this.#runner?.isSpent !== true) return;
      // The next sweep retries if this fails.
      const { stamp } = this;
      this.stamp = undefined;
      await this.#createRunner(this.#row);
      this.stamp = stamp;
    }).catch(() => this.#fail());
  }

  /** Sets what the process that runs the pipeline has reported last. */
  setReported(reported: Reported): void {
    this.#reported = reported;
  }

  /** Returns what was counted for the process that runs the pipeline since the last call. */
  takeDivertedCounts(): JsonValue[] {
    this.#keepDiverted();
    const counts = this.#diverted;
    this.#diverted = [];
    return counts;
  }

  #keepDiverted(): void {
    const counts = this.#runner?.takeDivertedCounts();
    if (counts) this.#diverted.push(counts);
  }

  /** Adds what other processes have counted. */
  addCounts(counts: JsonValue): void {
    this.#runner?.addCounts(counts);
  }

  /** Continues what waits for changes of the dead letters. */
  lettersChanged(): void {
    this.#runner?.lettersChanged();
  }

  /** `undefined` until the pipeline was read. */
  get organizationId(): string | undefined {
    return this.#organizationId;
  }

  /** Adds a warning to the log. */
  warn(code: string, message: string): void {
    this.#log.add({ level: 'warn', code, message });
  }

  /** Applies what `suspensionOf` returns now. */
  async suspend(): Promise<void> {
    // At once for records that arrive: the runner may be busy with a change.
    const runner = this.#runner;
    await runner?.suspend(this.#suspension);
    await this.#serialize(async () => this.#runner?.suspend(this.#suspension));
  }

  get #suspension(): Suspension | undefined {
    return this.#organizationId === undefined ? undefined : this.#tools.suspensionOf(this.#organizationId);
  }

  /**
   * Returns the current state.
   * @param pipeline its definition in the database
   */
  async state(pipeline: Pick<Pipeline, 'id' | 'nodes' | 'edges' | 'enabled'>): Promise<PipelineState> {
    if (this.#runner) return this.#runner.state(pipeline.enabled);
    const now = this.#tools.clock.now();
    if (!this.#failure) return stateOf(pipeline, { enabled: pipeline.enabled, held: false }, now);
    const { at, code, message } = this.#failure;
    const nodes = { '': { acknowledged: false, failures: 0, permanent: true } };
    const observation = {
      working: false,
      full: false,
      waiting: 0,
      counts: null,
      deadLetters: {},
      dropped: {},
      nodes,
      lastError: { at, code, message },
    };
    return stateOf(pipeline, { enabled: pipeline.enabled, held: true, heartbeatAt: now, observation }, now);
  }

  /** Returns status and counts synchronously, for the row that was applied last. */
  summary(): TotalCounts & { status: PipelineStatus } {
    const enabled = this.#pipeline?.enabled ?? true;
    if (!this.isHeld && !this.#failure && this.#pipeline) return this.#reportedSummary(this.#pipeline);
    if (this.#runner) return summaryOf(this.#runner, enabled);
    const none = { records: 0, bytes: 0 };
    const status = this.#failure ? 'Erroring' : enabled ? 'Pending' : 'Disabled';
    return { status, ingress: none, egress: none, errors: 0, failedAttempts: 0 };
  }

  #reportedSummary({ id, nodes, edges, enabled }: Pipeline): TotalCounts & { status: PipelineStatus } {
    const { observation, isHeld = false } = this.#reported ?? {};
    const now = this.#tools.clock.now();
    const known = { enabled, held: isHeld, heartbeatAt: now, ...(observation && { observation }) };
    const state = stateOf({ id, nodes, edges }, known, now);
    const failedAttempts = state.nodes.reduce((sum, node) => sum + node.failed_attempts, 0);
    const { status, ingress, egress, errors } = state;
    return { status, ingress, egress, errors, failedAttempts };
  }

  /** Returns the measurements of each node, or none before the first row was applied. */
  async measure(): Promise<readonly NodeMeasurement[]> {
    const pipeline = this.#pipeline;
    if (!pipeline) return [];
    const { nodes, lost } = await this.state(pipeline);
    const backlogs = await this.#runner?.backlogs();
    return nodes.map((node) => ({
      ...node,
      pipeline_id: this.id,
      lost: lost?.node_id === node.node_id ? lost.records : 0,
      backlog: backlogs?.[node.node_id] ?? { records: 0, bytes: 0 },
    }));
  }

  /** What waits in this pipeline; `undefined` while it has no runner. */
  get delivery(): PipelineDelivery | undefined {
    const runner = this.#runner;
    if (!runner) return undefined;
    return {
      retryNow: () => runner.retryNow(),
      trigger: () => runner.trigger(),
      waitingRecords: (nodeId, limit) => runner.waitingRecords(nodeId, limit),
      // Not while the runner is being recreated: its buffer must have only one reader.
      purge: (nodeId) => this.#serialize(() => runner.purge(nodeId)),
      deadLetters: runner.deadLetters,
    };
  }

  /** Total counts of dead letters. `undefined` without a runner. */
  get letters(): LetterCounts | undefined {
    return this.#runner?.letters;
  }

  /** Records dropped or lost since the runner was created. */
  get losses(): Losses | undefined {
    return this.#runner?.losses;
  }

  /** Changes whenever something is counted. `undefined` without a runner, which counts nothing. */
  get revision(): number | undefined {
    return this.isHeld ? this.#runner?.revision : this.#reported?.revision;
  }

  /** The pipeline as it was applied last. */
  get pipeline(): Pipeline | undefined {
    return this.#pipeline;
  }

  /** Returns the pipeline as alert rules see it, or `undefined` before the first row was applied. */
  watched(): WatchedPipeline | undefined {
    const pipeline = this.#pipeline;
    if (!pipeline) return undefined;
    return {
      id: this.id,
      organizationId: pipeline.organizationId,
      name: pipeline.name,
      isEnabled: pipeline.enabled,
      status: this.summary().status,
      enabledSince: this.#enabledSince,
      deliversAlerts: this.#deliversAlerts,
      counted: (ms, now): SpanCounts => this.history.last(ms, now),
      slugOf: (nodeId) => pipeline.nodes.find(({ id }) => id === nodeId)?.slug,
      lastError: (): LastError | undefined => {
        if (!this.isHeld) return lastErrorIn(this.#reported?.observation?.lastError);
        const last = this.#log.entries().findLast(({ level }) => level === 'error');
        if (!last) return undefined;
        const { at, code, message, nodeId } = last;
        return { at, code, message, ...(nodeId !== undefined && { nodeId }) };
      },
    };
  }

  /** Returns whether the pipeline may contain a node. Exact once a row has been applied. */
  mayContain(nodeId: string): boolean {
    return this.#pipeline?.nodes.some(({ id }) => id === nodeId) ?? true;
  }

  entries(limit?: number): readonly LogEntry[] {
    return this.#log.entries(limit);
  }

  /** Yields samples of the records that leave a node, until `signal` is aborted or the pipeline ends. */
  samples(nodeId: string, signal: AbortSignal): AsyncIterable<RecordSample> {
    return this.#samples.follow(nodeId, AbortSignal.any([signal, this.#stopped.signal]));
  }

  /** The schemas of the records on edges. `undefined` while there is no runner. */
  get schemas(): PipelineSchemas | undefined {
    return this.#runner && this.#schemas;
  }

  /**
   * Stores what was observed on edges since the last call, and logs what has changed.
   * @param isLast whether nothing is observed after this
   */
  async storeSchemas(isLast: boolean): Promise<void> {
    const updates = this.#schemas.take(isLast);
    if (updates.size === 0) return;
    try {
      await this.#tools.schemas.put(this.id, updates);
    } catch (error) {
      this.#schemas.putBack(updates);
      throw error;
    }
    for (const [edgeId, { event }] of updates) if (event) this.#logChange(edgeId, event);
  }

  /** Names of fields come from the records, so they are in no log. */
  #logChange(edgeId: string, { count }: SchemaEvent): void {
    const edge = this.#pipeline?.edges.find(({ id }) => id === edgeId);
    if (!edge || count === 0 || !isTold(edge)) return;
    const message = `The records on an edge to this node have changed: ${count} fields are new, have another type, or are missing.`;
    this.#log.add({ level: 'warn', code: 'schema_changed', message, nodeId: edge.to_node_instance_id });
  }

  tail(signal: AbortSignal, after?: number): AsyncIterable<LogEntry> {
    return this.#log.tail(AbortSignal.any([signal, this.#stopped.signal]), after);
  }

  /** Stops the runner. Stored records are kept. */
  stop(): Promise<void> {
    return this.#serialize(async () => {
      this.#stopped.abort();
      try {
        await this.#runner?.stop();
        this.#keepDiverted();
      } finally {
        this.#runner = undefined;
        this.#releaseAppends();
      }
    });
  }

  /** Stops the runner and removes all state and files of the pipeline. */
  remove(): Promise<void> {
    return this.#serialize(async () => {
      this.#removed = true;
      this.#stopped.abort();
      const { bus, coordinator } = this.#tools;
      try {
        if (this.#runner) await this.#runner.remove();
        else await coordinator.forget(this.id);
        // A runner whose input could not be created does not know its buffer.
        for (const { id, component_type: type } of this.#pipeline?.nodes ?? [])
          if (type === 'input') await bus.remove(`${this.id}.${id}`);
        await rm(this.#folder, { recursive: true, force: true });
        await this.#tools.shared?.lettersOf(this.id).remove();
      } finally {
        await this.#tools.logs.remove(this.id);
        this.#runner = undefined;
        this.#releaseAppends();
      }
    });
  }

  get #folder(): string {
    return join(this.#tools.folder, this.id);
  }

  #noteEnabled({ enabled, updatedAt }: Pipeline): void {
    const now = this.#tools.clock.now();
    if (!enabled) this.#enabledSince = undefined;
    // What an earlier process ran was enabled at least since its last change.
    else if (!this.#pipeline) this.#enabledSince = Math.min(now, updatedAt.getTime());
    else this.#enabledSince ??= now;
  }

  async #createRunner(row: RunningRow): Promise<void> {
    const { bus, coordinator, holder, clock, limits, vaultOf, reseal } = this.#tools;
    const { id, nodes, edges, enabled, organizationId } = row.pipeline;
    const alertsInput = alertsInputOf(row);
    // Before its output is reached, which may take long: what happens meanwhile is delivered later.
    if (alertsInput !== undefined) await this.#tools.beginFeed?.(id, alertsInput);
    const vault = await vaultOf(organizationId);
    const opened = openedOf(row, vault, this.#tools.catalog);
    const components = await componentsOf(row, opened, this.#tools, resolverOf(row.transformSecrets, vault));
    const reseals = [...row.connectors.keys()].flatMap((connectorId) => opened.get(connectorId)?.reseals ?? []);
    await reseal(reseals);
    const last = await this.#discardRunner(row);
    await this.#watchSchemas(edges);
    await coordinator.setDesired(id, enabled);
    const suspension = this.#suspension;
    const { shared } = this.#tools;
    this.#row = row;
    const runner = new PipelineRunner({
      definition: { id, nodes, edges },
      components,
      bus: shared?.busAt(row.pipeline.version) ?? bus,
      ...(shared && {
        isShared: true,
        letters: shared.lettersOf(id),
        onReleased: () => void this.#renewSpent(),
      }),
      coordinator,
      holder,
      folder: this.#folder,
      log: this.#log,
      samples: this.#samples,
      schemas: this.#schemas,
      meter: this.#tools.meter.of(meteredNodes(row)),
      ...(suspension && { suspension }),
      clock,
      limits: limits(),
    });
    try {
      await runner.start();
    } catch (error) {
      await runner.stop().catch(() => undefined);
      throw error;
    }
    this.#runner = runner;
    // It may have changed during the start.
    await runner.suspend(this.#suspension);
    this.#fingerprint = fingerprintOf(withReseals(row, reseals));
    const first = summaryOf(runner, enabled);
    if (last) this.history.rebase(last, first);
    else this.history.begin(first, clock.now());
    this.sampledLetters ??= runner.letters;
    this.#releaseAppends();
  }

  async #watchSchemas(edges: Pipeline['edges']): Promise<void> {
    const detected = edges.filter(isDetected).map((edge) => edge.id);
    const isKnown = detected.every((id) => this.#schemas.has(id));
    const all = edges.map((edge) => edge.id);
    this.#schemas.watch(detected, isKnown ? new Map() : await this.#tools.schemas.load(this.id, detected, all));
  }

  /**
   * Stops the previous runner. It finishes its current work and accepts records until then.
   * @returns its last totals, or `undefined` if there was none
   */
  async #discardRunner(row: RunningRow): Promise<TotalCounts | undefined> {
    const before = this.#runner;
    if (!before) return undefined;
    // Each process that has the pipeline knows it.
    if (this.isHeld) this.#log.add({ level: 'info', code: 'changed', message: 'The configuration has changed.' });
    await before.pause();
    this.#holdAppends();
    await before.stop(this.#tools.shared !== undefined);
    this.#keepDiverted();
    this.#runner = undefined;
    const kept = new Set(row.pipeline.nodes.map(({ id }) => id));
    for (const node of this.#pipeline?.nodes ?? [])
      if (node.component_type === 'input' && !kept.has(node.id)) await this.#tools.bus.remove(`${this.id}.${node.id}`);
    return summaryOf(before, row.pipeline.enabled);
  }

  /** Makes appended records wait for the next runner. */
  #holdAppends(): void {
    this.#ready = new Promise((resolve) => {
      this.#releaseAppends = () => {
        this.#ready = undefined;
        resolve();
      };
    });
  }

  #fail(): void {
    const message = 'The pipeline could not be started. The engine will retry.';
    this.#failure = { at: this.#tools.clock.now(), code: 'not_started', message };
    this.#log.add({ level: 'error', code: 'not_started', message });
    if (!this.#runner) this.#releaseAppends();
  }

  get #log(): PipelineLog {
    return this.#tools.logs.of(this.id, this.#organizationId);
  }

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }
}

/** Returns the last error of a report. */
function lastErrorIn(value: JsonValue | undefined): LastError | undefined {
  if (value === undefined || !isRecord(value)) return undefined;
  const { at, node_id: nodeId, code, message } = value;
  if (typeof at !== 'number' || typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { at, code, message, ...(typeof nodeId === 'string' && { nodeId }) };
}

/** Returns the node of the input if it delivers alerts. */
const alertsInputOf = ({ pipeline, connectors }: RunningRow): string | undefined =>
  pipeline.nodes.find(
    (node) =>
      node.component_type === 'input' && node.enabled && connectors.get(node.component_id)?.type === ALERTS_INPUT,
  )?.id;

const summaryOf = (runner: PipelineRunner, enabled: boolean): TotalCounts & { status: PipelineStatus } => ({
  ...runner.summary(enabled),
  failedAttempts: runner.failedAttempts,
});

/**
 * Returns the row as it will be once the reseals are stored. Resealing must not recreate the
 * runner.
 */
function withReseals(row: RunningRow, reseals: readonly Reseal[]): RunningRow {
  const sealed = new Map(reseals.map((each) => [each.id, each.sealed]));
  return {
    ...row,
    secrets: row.secrets.map((secret) => ({ ...secret, sealed: sealed.get(secret.id) ?? secret.sealed })),
  };
}
