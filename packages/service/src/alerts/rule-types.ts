import type { RuleType } from './rule-type.js';
import { billingMetricsCostBudget } from './types/billing-metrics-cost-budget.js';
import { errorRateAlert } from './types/error-rate-alert.js';
import { monadLogAlert } from './types/monad-log-alert.js';
import { pipelineStatusAlert } from './types/pipeline-status-alert.js';
import { thresholdAlert } from './types/threshold-alert.js';

/**
 * All types of alert rules. A type that reads something new adds a kind to `Condition` and its
 * evaluation to `AlertEvaluator`.
 */
export const ruleTypes: readonly RuleType[] = [
  thresholdAlert,
  errorRateAlert,
  pipelineStatusAlert,
  monadLogAlert,
  billingMetricsCostBudget,
];

/** Returns the type with this ID. */
export const ruleTypeOf = (typeId: string): RuleType | undefined => ruleTypes.find((each) => each.typeId === typeId);
