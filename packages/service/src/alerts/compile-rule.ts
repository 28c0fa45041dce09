import type { AlertRule } from '../store/store.js';
import { clearMsOf } from './next-step.js';
import type { Condition } from './rule-type.js';
import { ruleTypeOf } from './rule-types.js';
import type { WatchedPipeline } from './watched-pipeline.js';

/** A rule that can be evaluated. */
export interface CompiledRule {
  row: AlertRule;
  condition: Condition;
  /** See `clearMsOf`. */
  clearMs: number;
  /** Returns whether the rule is about a pipeline of its organization. */
  selects: (pipeline: WatchedPipeline) => boolean;
}

/** Compiles a rule. Returns `undefined` for one that this release does not understand. */
export function compileRule(row: AlertRule): CompiledRule | undefined {
  const parsed = ruleTypeOf(row.type)?.parse(row.ruleConfig);
  if (!parsed?.ok) return undefined;
  const { condition } = parsed;
  const listed = new Set(row.pipelineIds);
  const isAboutPipelines = condition.reads !== 'cost';
  const isVolume = condition.reads === 'counts' && condition.isVolume;
  return {
    row,
    condition,
    clearMs: clearMsOf(condition),
    selects: ({ id, organizationId, deliversAlerts }) => {
      if (!isAboutPipelines || organizationId !== row.organizationId) return false;
      if (listed.size > 0 && !row.invertSelection) return listed.has(id);
      // Each alert would change the counts of the pipelines that deliver it.
      return !listed.has(id) && !(isVolume && deliversAlerts);
    },
  };
}
