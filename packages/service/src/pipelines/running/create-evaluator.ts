import type { Clock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import { AlertEvaluator, type EvaluatorOptions } from '../../alerts/alert-evaluator.js';
import type { EventSignals } from '../../alerts/alert-records.js';
import { currentCost } from '../../billing/current-cost.js';
import { describeError } from '../../describe-error.js';
import type { AlertWriter } from '../../store/alert-writer.js';
import type { EngineState } from '../../store/engine-state.js';
import type { Tables } from '../../store/store.js';
import { readStoredCounts } from './stored-counts.js';
import type { Supervisor } from './supervisor.js';

export interface EvaluatorParts {
  writer: AlertWriter;
  tables: Tables;
  state: Pick<EngineState, 'get' | 'put'>;
  /** Fencing token of the engine's lease. */
  token: number;
  supervisor: Pick<Supervisor, 'running' | 'has'>;
  logs: Pick<EvaluatorOptions, 'entriesAfter'>;
  signals: EventSignals;
  /** Milliseconds until a firing alert is sent again. `undefined`: never. */
  remindMs: number | undefined;
  clock: Clock;
  log: Logger;
}

/** Key of the state in which an evaluator continues. */
const STATE_KEY = 'alerts';

/** Creates the evaluator of alert rules for the pipelines of this process. */
export function createEvaluator({
  writer,
  tables,
  state,
  token,
  supervisor,
  logs,
  signals,
  remindMs,
  clock,
  log,
}: EvaluatorParts): AlertEvaluator {
  return new AlertEvaluator({
    writer,
    pipelines: () => [...supervisor.running()].flatMap((pipeline) => pipeline.watched() ?? []),
    hasPipeline: (id) => supervisor.has(id),
    storedCounts: (spans, to) => readStoredCounts(tables.pipelineCounts, spans, to),
    currentCost: (organizationId, now) => currentCost(tables, organizationId, now),
    entriesAfter: (sequence) => logs.entriesAfter(sequence),
    state: {
      load: async () => (await state.get(STATE_KEY))?.value,
      save: (value) => state.put(new Map([[STATE_KEY, { ...value, token }]])),
    },
    remindMs,
    clock,
    onEvents: (organizationIds) => signals.notify(organizationIds),
    onFailure: (error) => log.warn({ problem: describeError(error) }, 'could not evaluate alert rules; retrying'),
    onUnknownRule: ({ id, type }) => log.warn({ rule_id: id, type }, 'this release cannot evaluate an alert rule'),
  });
}
