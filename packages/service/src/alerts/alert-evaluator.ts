import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord, type Clock, type DataRecord, type JsonValue, type LogEntry } from '@connector-frame/engine';
import type { CurrentCost } from '../billing/current-cost.js';
import type { AlertWriter } from '../store/alert-writer.js';
import type { Alert } from '../store/alerts.js';
import type { AlertRule } from '../store/store.js';
import { compileRule, type CompiledRule } from './compile-rule.js';
import { Costs } from './costs.js';
import type { TotalCounts, WindowCounts } from './counts.js';
import { BY_MINUTE_WINDOW_MS, SHORT_WINDOW_MS, stepOf } from './duration.js';
import { Evaluation, ofOrganization, ofPipeline, type EndReason } from './evaluation.js';
import { HeldStatuses } from './held-statuses.js';
import { Incidents } from './incidents.js';
import { LogMatches, type LogMatch } from './log-matches.js';
import { Outages } from './outages.js';
import { secondsOf, type CountsRule, type StatusRule, type Verdict } from './rule-type.js';
import type { WatchedPipeline } from './watched-pipeline.js';

/** An entry of the log of a pipeline. */
export interface LoggedEntry {
  organizationId: string;
  pipelineId: string;
  entry: LogEntry;
}

export interface EvaluatorOptions {
  writer: AlertWriter;
  /** Returns the pipelines of this process that have been read from the database. */
  pipelines: () => Iterable<WatchedPipeline>;
  /** Returns whether a pipeline exists, also if it has not been read yet. */
  hasPipeline: (id: string) => boolean;
  /**
   * Returns what pipelines counted in each of several spans, by pipeline, from the stored counts. The
   * spans begin at full minutes and end at `to`.
   */
  storedCounts: (
    spans: readonly { ids: readonly string[]; from: number }[],
    to: number,
  ) => Promise<readonly ReadonlyMap<string, TotalCounts>[]>;
  /** Computes what an organization costs in the period that contains `now`. */
  currentCost: (organizationId: string, now: number) => Promise<CurrentCost>;
  /** Returns the stored log entries of all pipelines after a sequence, in order. */
  entriesAfter: (sequence: number) => readonly LoggedEntry[] | Promise<readonly LoggedEntry[]>;
  /** Where the evaluator keeps what the next process continues with. */
  state: { load(): Promise<JsonValue | undefined>; save(value: DataRecord): Promise<void> };
  /** Milliseconds until a firing alert is sent again. `undefined`: never. */
  remindMs: number | undefined;
  clock: Clock;
  /** Called after events were stored, with the organizations they belong to. */
  onEvents: (organizationIds: ReadonlySet<string>) => void;
  /** Called for the first of consecutive failures. Evaluation is tried again later. */
  onFailure: (error: unknown) => void;
  /** Called for a rule that this release can't evaluate. */
  onUnknownRule: (rule: AlertRule) => void;
}

/** Milliseconds from a log entry or a changed rule to its evaluation. */
const WAKE_MS = 1_000;
/** Milliseconds between writes of the state. */
const SAVE_MS = 60_000;
/** An earlier state of this age says nothing about statuses anymore. */
const MAX_STATE_AGE_MS = 300_000;
/** Log entries that are compared with rules which are read later. */
const MAX_RECENT = 1_000;
/** Milliseconds of evaluation after which other tasks run. */
const SLICE_MS = 8;

/** What one evaluation of all rules works on. */
interface Round {
  tick: number;
  now: number;
  pipelines: ReadonlyMap<string, WatchedPipeline>;
  incidents: Incidents;
  evaluation: Evaluation;
}

/** Evaluates the alert rules of all organizations, one evaluation after the other. */
export class AlertEvaluator {
  readonly #options: EvaluatorOptions;
  readonly #matches = new LogMatches();
  readonly #costs: Costs;
  readonly #closing = new AbortController();
  #turn: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isStarted = false;
  #isReading = false;
  #isTickQueued = false;
  #wakeAll = false;
  #waking: Promise<void> | undefined;

  #revision: string | undefined;
  #rules = new Map<string, AlertRule>();
  /** Rules that are evaluated. */
  #active = new Map<string, CompiledRule>();
  /** The same by organization, and those of them that read logs. */
  #ofOrganization = new Map<string, CompiledRule[]>();
  #logRules = new Map<string, CompiledRule[]>();
  /** Entries since the rules were read last: a rule may have been committed before them. */
  #sinceRules: LoggedEntry[] = [];
  /** `undefined` until they are read, and after a write whose outcome is unknown. */
  #incidents: Incidents | undefined;
  #held = new HeldStatuses(undefined, 0);
  #outages = new Outages();
  #tick: number | undefined;
  /** Until when counts are stored, and until when rules with long windows were evaluated. */
  #countedUntil = 0;
  #evaluatedUntil = 0;
  #savedAt = 0;

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    this.#costs = new Costs(options.currentCost);
  }

  /** Begins to evaluate. Call it once all pipelines are known. */
  start(): void {
    this.#isStarted = true;
    void this.#enqueue(() => this.#begin());
  }

  /**
   * Evaluates all rules, unless an earlier evaluation still has to begin.
   * @param at end of the last interval whose counts were sampled
   * @returns resolves when all rules have been evaluated, or could not be. Never rejects
   */
  tick(at: number): Promise<void> {
    this.#tick = at;
    if (!this.#isStarted || this.#isTickQueued) return this.#turn;
    this.#isTickQueued = true;
    return this.#enqueue(async () => {
      this.#isTickQueued = false;
      await this.#evaluate(true);
    });
  }

  /** Reports that the counts of pipelines are stored until a full minute. */
  counted(until: number): void {
    this.#countedUntil = until;
  }

  /** Evaluates all rules soon, because a rule has changed. */
  wake(): void {
    if (this.#isStarted) this.#wakeSoon(true);
  }

  /** Compares a new log entry with the rules. */
  logged(entry: LoggedEntry): void {
    if (!this.#isReading) return;
    this.#matches.saw(entry.entry.sequence);
    this.#sinceRules.push(entry);
    if (this.#sinceRules.length > MAX_RECENT) this.#sinceRules.shift();
    if (this.#match(entry)) this.#wakeSoon(false);
  }

  /** Ends the evaluation that is running and stores the state. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#waking;
    await this.#turn;
    if (this.#isReading) await this.#save(this.#options.clock.now()).catch(() => undefined);
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#runAfter(this.#turn, work);
    return this.#turn;
  }

  /** Never rejects. */
  async #runAfter(before: Promise<void>, work: () => Promise<void>): Promise<void> {
    await before;
    if (this.#closing.signal.aborted) return;
    try {
      if (!this.#isReading) await this.#begin();
      await work();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#options.onFailure(error);
      this.#hasFailed = true;
    }
  }

  #wakeSoon(all: boolean): void {
    this.#wakeAll ||= all;
    this.#waking ??= this.#waitAndEvaluate();
  }

  async #waitAndEvaluate(): Promise<void> {
    await this.#options.clock.sleep(WAKE_MS, this.#closing.signal);
    this.#waking = undefined;
    const isAll = this.#wakeAll;
    this.#wakeAll = false;
    await this.#enqueue(() => this.#evaluate(isAll));
  }

  async #begin(): Promise<void> {
    if (this.#isReading) return;
    const { state, clock, entriesAfter } = this.#options;
    const saved = await state.load();
    await this.#readRules();
    const now = clock.now();
    if (isRecord(saved)) {
      this.#outages = new Outages(saved['outages']);
      const age = now - (this.#outages.last ?? 0);
      this.#held = new HeldStatuses(age <= MAX_STATE_AGE_MS ? saved['statuses'] : undefined, now);
    }
    const sequence = isRecord(saved) ? saved['log_sequence'] : undefined;
    const stored = entriesAfter(typeof sequence === 'number' ? sequence : 0);
    // Entries in memory in one step, so that none is in both or in neither. Without a state, there were no rules.
    for (const entry of stored instanceof Promise ? await stored : stored) {
      this.#matches.saw(entry.entry.sequence);
      if (typeof sequence === 'number') this.#match(entry, ({ createdAt }) => entry.entry.at >= createdAt.getTime());
    }
    this.#isReading = true;
  }

  /** Returns whether any rule matches the entry. */
  #match({ organizationId, pipelineId, entry }: LoggedEntry, isPossible = (_rule: AlertRule) => true): boolean {
    let isMatched = false;
    for (const rule of this.#logRules.get(organizationId) ?? []) {
      const { condition, row } = rule;
      if (condition.reads !== 'log' || !isPossible(row) || !condition.matches(entry)) continue;
      this.#matches.add(rule, pipelineId, entry);
      isMatched = true;
    }
    return isMatched;
  }

  async #readRules(): Promise<void> {
    const { writer, onUnknownRule } = this.#options;
    const upTo = this.#sinceRules.at(-1);
    const revision = await writer.revision();
    const forget = (): void => {
      this.#sinceRules = this.#sinceRules.slice(this.#sinceRules.findLastIndex((entry) => entry === upTo) + 1);
    };
    if (revision === this.#revision) return forget();
    const rows = await writer.rules();
    const before = this.#active;
    this.#rules = new Map(rows.map((row) => [row.id, row]));
    this.#active = new Map();
    this.#ofOrganization = new Map();
    this.#logRules = new Map();
    for (const row of rows) {
      if (!row.active) continue;
      const rule = compileRule(row);
      if (!rule) onUnknownRule(row);
      else {
        this.#active.set(row.id, rule);
        add(this.#ofOrganization, row.organizationId, rule);
        if (rule.condition.reads === 'log') add(this.#logRules, row.organizationId, rule);
      }
    }
    this.#revision = revision;
    for (const entry of this.#sinceRules)
      this.#match(entry, ({ id, updatedAt }) => !before.has(id) && entry.entry.at >= updatedAt.getTime());
    forget();
  }

  /** @param isAll whether to evaluate all rules; otherwise, only the log entries that were matched */
  async #evaluate(isAll: boolean): Promise<void> {
    const { writer, clock, remindMs } = this.#options;
    if (isAll) await this.#readRules();
    this.#incidents ??= new Incidents(await writer.firing());
    const incidents = this.#incidents;
    const now = clock.now();
    const evaluation = new Evaluation({ now, incidents, remindMs });
    const pipelines = new Map<string, WatchedPipeline>();
    for (const pipeline of this.#options.pipelines()) pipelines.set(pipeline.id, pipeline);
    const matches = this.#matches.take();
    try {
      for (const match of matches) this.#applyMatch(match, pipelines, evaluation);
      if (isAll && this.#tick !== undefined)
        await this.#evaluateAll({ tick: this.#tick, now, pipelines, incidents, evaluation });
      await this.#commit(evaluation, incidents, now);
    } catch (error) {
      this.#matches.putBack(matches);
      throw error;
    }
    const isDue = Math.abs(now - this.#savedAt) >= SAVE_MS;
    if (isDue || matches.length > 0) await this.#save(now);
  }

  #applyMatch(match: LogMatch, pipelines: ReadonlyMap<string, WatchedPipeline>, evaluation: Evaluation): void {
    const pipeline = pipelines.get(match.pipelineId);
    const { condition, selects, row } = match.rule;
    // The rule may have been changed or deleted since the entry.
    const isCurrent = this.#rules.get(row.id)?.active === true;
    if (pipeline && isCurrent && condition.reads === 'log' && selects(pipeline))
      evaluation.matched(match, condition, pipeline);
  }

  async #evaluateAll({ tick, now, pipelines, incidents, evaluation }: Round): Promise<void> {
    this.#outages.observed(now);
    for (const pipeline of pipelines.values()) this.#held.observed(pipeline, now);
    this.#held.retain((id) => this.#options.hasPipeline(id));
    const stored = await this.#readStoredCounts(pipelines);
    const slices = new Slices();
    for (const pipeline of pipelines.values()) {
      const recent = new Map<number, WindowCounts>();
      for (const rule of this.#ofOrganization.get(pipeline.organizationId) ?? []) {
        if (!rule.selects(pipeline)) continue;
        const { condition } = rule;
        if (condition.reads === 'counts') {
          const { ms } = condition.window;
          const counts =
            ms <= SHORT_WINDOW_MS
              ? getOrSet(recent, ms, () => this.#recent(pipeline, ms, tick))
              : stored.get(ms)?.get(pipeline.id);
          if (counts) judgeCounts(rule, condition, counts, pipeline, evaluation);
        } else if (condition.reads === 'status') {
          const isFiring = incidents.get(rule.row.id, pipeline.id) !== undefined;
          this.#judgeStatus(rule, condition, pipeline, { now, isFiring }, evaluation);
        }
      }
      if (slices.isOver()) await slices.yield();
    }
    await this.#judgeCosts({ now, incidents, evaluation });
    for (const incident of incidents.all()) {
      const rule = this.#active.get(incident.ruleId);
      const reason = this.#endOf(incident, rule, pipelines.get(incident.pipelineId ?? ''));
      if (reason) evaluation.ended(incident, reason);
      else if (rule?.condition.reads === 'log') evaluation.unmatched(incident, rule, rule.condition);
      if (slices.isOver()) await slices.yield();
    }
  }

  async #judgeCosts({ now, incidents, evaluation }: Pick<Round, 'now' | 'incidents' | 'evaluation'>): Promise<void> {
    const rules = [...this.#active.values()].filter(({ condition }) => condition.reads === 'cost');
    const costs = await this.#costs.of(new Set(rules.map(({ row }) => row.organizationId)), now);
    for (const rule of rules) {
      const { condition, row } = rule;
      const cost = costs.get(row.organizationId);
      if (condition.reads !== 'cost' || !cost) continue;
      const incident = incidents.get(row.id, row.organizationId);
      // An alert ends with its period. If the next period is above the budget at once, that is another incident.
      const isOver = incident !== undefined && incident.metadata['period_end'] !== secondsOf(cost.period.end);
      evaluation.judged(rule, ofOrganization(row.organizationId), isOver ? 'clear' : condition.judge(cost), () =>
        condition.explain(cost),
      );
    }
  }

  /** Returns why an alert can't be evaluated anymore, if so. */
  #endOf(
    { ruleId, pipelineId }: Alert,
    rule: CompiledRule | undefined,
    pipeline: WatchedPipeline | undefined,
  ): EndReason | undefined {
    if (!rule) return this.#rules.has(ruleId) ? 'rule_inactive' : 'rule_deleted';
    if (pipelineId === null) return undefined;
    if (!pipeline) return this.#options.hasPipeline(pipelineId) ? undefined : 'pipeline_deleted';
    return rule.selects(pipeline) ? undefined : 'pipeline_not_selected';
  }

  #judgeStatus(
    rule: CompiledRule,
    condition: StatusRule,
    pipeline: WatchedPipeline,
    { now, isFiring }: { now: number; isFiring: boolean },
    evaluation: Evaluation,
  ): void {
    const since = this.#held.since(pipeline.id, condition.status);
    evaluation.judged(rule, ofPipeline(pipeline), statusVerdict(condition, pipeline, { since, now, isFiring }), () =>
      condition.explain(pipeline.status === condition.status ? since : undefined, pipeline),
    );
  }

  /** Returns what a pipeline has counted in a window that is measured in memory. */
  #recent(pipeline: WatchedPipeline, ms: number, tick: number): WindowCounts {
    const from = tick - ms;
    return { ...pipeline.counted(ms, tick), from, to: tick, isObserved: this.#isObserved(pipeline, from, tick) };
  }

  #isObserved({ enabledSince }: WatchedPipeline, from: number, to: number): boolean {
    return enabledSince !== undefined && enabledSince <= from && this.#outages.covers(from, to);
  }

  /**
   * Reads the counts of all windows that are too long for the memory, by window and pipeline. Empty
   * until another minute is stored.
   */
  async #readStoredCounts(
    pipelines: ReadonlyMap<string, WatchedPipeline>,
  ): Promise<ReadonlyMap<number, ReadonlyMap<string, WindowCounts>>> {
    const to = this.#countedUntil;
    const found = new Map<number, Map<string, WindowCounts>>();
    if (to === this.#evaluatedUntil) return found;
    const byWindow = new Map<number, Set<string>>();
    for (const rule of this.#active.values()) {
      const ms = rule.condition.reads === 'counts' ? rule.condition.window.ms : 0;
      if (ms <= SHORT_WINDOW_MS) continue;
      const ids = getOrSet(byWindow, ms, () => new Set<string>());
      for (const pipeline of pipelines.values()) if (rule.selects(pipeline)) ids.add(pipeline.id);
    }
    const spans = Array.from(byWindow, ([ms, ids]) => {
      // Of each hour before the last day, only the counts at its end are known.
      const step = ms > BY_MINUTE_WINDOW_MS ? stepOf(ms) : 1;
      return { ms, ids: [...ids], from: Math.floor((to - ms) / step) * step };
    });
    const counted = spans.length === 0 ? [] : await this.#options.storedCounts(spans, to);
    for (const [index, { ms, from }] of spans.entries()) {
      const counts = new Map<string, WindowCounts>();
      for (const [id, totals] of counted[index] ?? []) {
        const pipeline = pipelines.get(id);
        const isObserved = pipeline !== undefined && this.#isObserved(pipeline, from, to);
        counts.set(id, { ...totals, isWhole: true, from, to, isObserved });
      }
      found.set(ms, counts);
    }
    this.#evaluatedUntil = to;
    return found;
  }

  async #commit({ changes }: Evaluation, incidents: Incidents, now: number): Promise<void> {
    if (changes.length === 0) return;
    const organizationIds = new Set(changes.flatMap(({ alert, event }) => (event ? [alert.organizationId] : [])));
    try {
      const stored = await this.#options.writer.commit(changes, new Date(now));
      for (const { alert } of changes) if (stored.has(alert.id)) incidents.put(alert);
      // Others belong to a deleted organization, or the database has alerts that this process does not know.
      if (stored.size < changes.length) this.#incidents = undefined;
    } catch (error) {
      // Some or all may have been stored.
      this.#incidents = undefined;
      throw error;
    } finally {
      if (organizationIds.size > 0) this.#options.onEvents(organizationIds);
    }
  }

  async #save(now: number): Promise<void> {
    const { sequence } = this.#matches;
    // After a restart, unstored entries are read again.
    if (!this.#matches.isEmpty) return;
    await this.#options.state.save({
      log_sequence: sequence,
      outages: this.#outages.toJson(),
      statuses: this.#held.toJson(),
    });
    this.#savedAt = now;
  }
}

function judgeCounts(
  rule: CompiledRule,
  condition: CountsRule,
  counts: WindowCounts,
  pipeline: WatchedPipeline,
  evaluation: Evaluation,
): void {
  evaluation.judged(rule, ofPipeline(pipeline), condition.judge(counts, pipeline), () =>
    condition.explain(counts, pipeline),
  );
}

/** A status must last for the window to fire; after that, any interruption counts as one only if it lasts. */
function statusVerdict(
  { status, window }: StatusRule,
  pipeline: WatchedPipeline,
  { since, now, isFiring }: { since: number | undefined; now: number; isFiring: boolean },
): Verdict {
  if (pipeline.status === status)
    return isFiring || (since !== undefined && now - since >= window.ms) ? 'holds' : 'clear';
  return pipeline.status === 'Pending' || pipeline.status === 'Unknown' ? 'unknown' : 'clear';
}

/** Divides a long computation, so that it does not delay other tasks. */
class Slices {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began > SLICE_MS;
  }

  async yield(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

function getOrSet<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
