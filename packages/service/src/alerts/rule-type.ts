import { isRecord, type DataRecord, type LogEntry, type PipelineStatus } from '@connector-frame/engine';
import { z } from 'zod';
import type { CurrentCost } from '../billing/current-cost.js';
import type { WindowCounts } from './counts.js';
import type { Duration } from './duration.js';
import type { WatchedPipeline } from './watched-pipeline.js';

/** What a rule can be evaluated over. */
export const GRANULARITIES = ['pipeline', 'billing_account', 'organization'] as const;
export const CATEGORIES = ['Security', 'Compliance', 'Operational', 'Data Quality'] as const;
export const HOUSES = ['Metrics', 'Logs', 'Billing'] as const;

/**
 * Whether the condition of a rule holds now. `unknown`: what is known does not decide it, so an alert
 * neither fires nor clears.
 */
export type Verdict = 'holds' | 'clear' | 'unknown';

/** What an alert says about its cause. */
export interface Explanation {
  /** One sentence. */
  description: string;
  /** The numbers behind it. Times are Unix seconds. */
  metadata: DataRecord;
}

/** A condition on what a pipeline has counted in a window. */
export interface CountsRule {
  reads: 'counts';
  window: Duration;
  /**
   * Whether it counts the records that pass. It then leaves out pipelines that deliver alerts, unless
   * it names them: each alert would change their counts.
   */
  isVolume: boolean;
  judge(counts: WindowCounts, pipeline: WatchedPipeline): Verdict;
  explain(counts: WindowCounts, pipeline: WatchedPipeline): Explanation;
}

/** A status that a pipeline has for the whole of a window. */
export interface StatusRule {
  reads: 'status';
  status: PipelineStatus;
  window: Duration;
  /** @param since when it got the status, in milliseconds since the epoch */
  explain(since: number | undefined, pipeline: WatchedPipeline): Explanation;
}

/** Entries of pipeline logs. */
export interface LogRule {
  reads: 'log';
  /** An alert about a node is not repeated within this time. */
  dedupe: Duration;
  matches(entry: LogEntry): boolean;
  /** @param matches number of entries since the alert fired */
  explain(entry: LogEntry, matches: number, pipeline: WatchedPipeline): Explanation;
}

/** A condition on what the organization of a rule costs. The rule is about no pipeline. */
export interface CostRule {
  reads: 'cost';
  judge(cost: CurrentCost): Verdict;
  explain(cost: CurrentCost): Explanation;
}

/** The condition of a rule. A type that reads anything else adds its own kind here. */
export type Condition = CountsRule | StatusRule | LogRule | CostRule;

/** A field of a rule that is not valid. */
export interface RuleIssue {
  /** JSON pointer into the rule: `/rule_config/settings/threshold`. */
  path: string;
  message: string;
}

/** A type of alert rules. */
export interface RuleType {
  typeId: string;
  name: string;
  description: string;
  category: (typeof CATEGORIES)[number];
  granularity: (typeof GRANULARITIES)[number];
  house: (typeof HOUSES)[number];
  /** JSON Schema of `rule_config`. */
  config: Record<string, unknown>;
  /** Parses the `rule_config` of a rule. */
  parse(config: unknown): { ok: true; condition: Condition } | { ok: false; issues: RuleIssue[] };
}

/**
 * Defines a type of alert rules.
 * @param settings schema of `rule_config.settings`
 * @param compile returns the condition of a rule with valid settings
 */
export function defineRuleType<S extends z.ZodType>({
  settings,
  compile,
  ...about
}: Omit<RuleType, 'config' | 'parse'> & {
  settings: S;
  compile: (settings: z.output<S>) => Condition;
}): RuleType {
  return {
    ...about,
    config: z.toJSONSchema(z.strictObject({ settings }), { io: 'input' }),
    parse(config) {
      const outer = Outer.safeParse(config);
      const inner = settings.safeParse(outer.data?.settings);
      if (outer.success && inner.success) return { ok: true, condition: compile(inner.data) };
      const issues = (outer.error?.issues ?? []).flatMap((issue) => issuesOf(issue, '/rule_config'));
      if (isRecord(config))
        issues.push(...(inner.error?.issues ?? []).flatMap((issue) => issuesOf(issue, '/rule_config/settings')));
      return { ok: false, issues };
    },
  };
}

/** The settings are in an object of their own, as those of connectors are. */
const Outer = z.strictObject({ settings: z.unknown().optional() });

function issuesOf(issue: z.core.$ZodIssue, at: string): RuleIssue[] {
  const path = at + issue.path.map((key) => `/${String(key)}`).join('');
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.map((key) => ({ path: `${path}/${key}`, message: 'Unknown.' }));
}

/** Returns Unix seconds. */
export const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

/** Returns the properties that the metadata of all alerts about a pipeline have. */
export function aboutPipeline(pipeline: WatchedPipeline): DataRecord {
  return { pipeline_id: pipeline.id, pipeline_name: pipeline.name };
}

/**
 * Returns the last failure of a pipeline for the metadata of an alert, if there is one.
 * @param since milliseconds since the epoch; an older one has another cause
 */
export function lastErrorOf(pipeline: WatchedPipeline, since: number): DataRecord {
  const last = pipeline.lastError();
  if (!last || last.at < since) return {};
  const { at, code, message, nodeId } = last;
  return { last_error: { time: secondsOf(at), code, message, ...(nodeId !== undefined && { node_id: nodeId }) } };
}
