import { randomUUID } from 'node:crypto';
import type { AlertChange } from '../store/alert-writer.js';
import type { Alert } from '../store/alerts.js';
import type { AlertEventName, AlertResource } from '../store/tables.js';
import type { CompiledRule } from './compile-rule.js';
import type { Incidents } from './incidents.js';
import type { LogMatch } from './log-matches.js';
import { nextStep } from './next-step.js';
import { presentEvent } from './present-alert.js';
import type { Explanation, LogRule, Verdict } from './rule-type.js';
import type { WatchedPipeline } from './watched-pipeline.js';

/** Why an alert ended although its condition may still hold. */
export type EndReason = 'rule_deleted' | 'rule_inactive' | 'pipeline_deleted' | 'pipeline_not_selected';

const REASONS: Readonly<Record<EndReason, string>> = {
  rule_deleted: 'The alert rule was deleted.',
  rule_inactive: 'The alert rule is no longer active.',
  pipeline_deleted: 'The pipeline was deleted.',
  pipeline_not_selected: 'The alert rule no longer selects the pipeline.',
};

/** Milliseconds after which the time of the last match is stored again. */
const MATCH_STORED_MS = 30_000;

/** What an alert is about. */
export interface About {
  resourceType: AlertResource;
  resourceId: string;
  pipelineId: string | null;
}

export interface EvaluationOptions {
  /** Milliseconds since the epoch. */
  now: number;
  /** The alerts that were firing before. Not changed. */
  incidents: Incidents;
  /** Milliseconds until a firing alert is sent again. `undefined`: never. */
  remindMs: number | undefined;
}

/** Collects the changes of alerts in one evaluation of rules. */
export class Evaluation {
  readonly changes: AlertChange[] = [];
  readonly #options: EvaluationOptions;
  readonly #matched = new Set<string>();

  constructor(options: EvaluationOptions) {
    this.#options = options;
  }

  /** Applies a verdict. `explain` is called only for what is sent. */
  judged(rule: CompiledRule, about: About, verdict: Verdict, explain: () => Explanation): void {
    const { now, incidents, remindMs } = this.#options;
    const incident = incidents.get(rule.row.id, about.resourceId);
    const step = nextStep(incident, verdict, now, { clearMs: rule.clearMs, remindMs });
    if (step === undefined) return;
    if (!incident) this.#fire(rule, about, explain());
    else if (step === 'remind') this.#remind(incident, rule, explain());
    else if (step === 'resolve') this.#resolve(incident, rule, explain());
    else this.#change(incident, { clearingStartedAt: step === 'clear' ? new Date(now) : null });
  }

  /** Applies log entries that a rule has matched. */
  matched({ rule, entry, count }: LogMatch, condition: LogRule, pipeline: WatchedPipeline): void {
    const { now, incidents } = this.#options;
    const about: About =
      entry.nodeId === undefined
        ? ofPipeline(pipeline)
        : { resourceType: 'node', resourceId: entry.nodeId, pipelineId: pipeline.id };
    const incident = incidents.get(rule.row.id, about.resourceId);
    const lastMatchAt = new Date(entry.at);
    if (!incident) {
      this.#fire(rule, about, condition.explain(entry, count, pipeline), lastMatchAt);
      return;
    }
    // Read again after a restart.
    if (entry.sequence <= Number(incident.metadata['sequence'] ?? 0)) return;
    this.#matched.add(incident.id);
    const limits = { clearMs: rule.clearMs, remindMs: condition.dedupe.ms };
    const step = nextStep(incident, 'holds', now, limits);
    const matches = count + Number(incident.metadata['matches'] ?? 0);
    if (step === 'remind') this.#remind(incident, rule, condition.explain(entry, matches, pipeline), lastMatchAt);
    else if (step === 'continue' || entry.at - (incident.lastMatchAt?.getTime() ?? 0) >= MATCH_STORED_MS)
      this.#change(incident, {
        clearingStartedAt: null,
        lastMatchAt,
        metadata: { ...incident.metadata, sequence: entry.sequence, matches },
      });
  }

  /** Clears and resolves an alert of a rule that reads logs, after it has matched nothing for a while. */
  unmatched(incident: Alert, rule: CompiledRule, condition: LogRule): void {
    if (this.#matched.has(incident.id)) return;
    const { now } = this.#options;
    const lastAt = (incident.lastMatchAt ?? incident.firedAt).getTime();
    const verdict = Math.abs(now - lastAt) < condition.dedupe.ms ? 'unknown' : 'clear';
    const step = nextStep(incident, verdict, now, { clearMs: rule.clearMs, remindMs: undefined });
    if (step === 'clear') this.#change(incident, { clearingStartedAt: new Date(now) });
    else if (step === 'resolve') this.#send('resolved', { ...incident, resolvedAt: new Date(now) });
  }

  /** Resolves an alert that can't be evaluated anymore. */
  ended(incident: Alert, reason: EndReason): void {
    this.#send('resolved', {
      ...incident,
      description: REASONS[reason],
      metadata: { ...incident.metadata, ended: reason },
      resolvedAt: new Date(this.#options.now),
    });
  }

  #fire(rule: CompiledRule, about: About, explanation: Explanation, lastMatchAt: Date | null = null): void {
    const now = new Date(this.#options.now);
    const { id: ruleId, organizationId, type: ruleType } = rule.row;
    const times = { createdAt: now, firedAt: now, lastMatchAt, clearingStartedAt: null, resolvedAt: null };
    this.#send(
      'fired',
      { id: randomUUID(), organizationId, ruleId, ruleType, ...about, ...saying(rule, explanation), ...times },
      true,
    );
  }

  #remind(incident: Alert, rule: CompiledRule, explanation: Explanation, lastMatchAt = incident.lastMatchAt): void {
    const firedAt = new Date(this.#options.now);
    this.#send('reminded', {
      ...incident,
      ...saying(rule, explanation),
      firedAt,
      lastMatchAt,
      clearingStartedAt: null,
    });
  }

  #resolve(incident: Alert, rule: CompiledRule, explanation: Explanation): void {
    this.#send('resolved', { ...incident, ...saying(rule, explanation), resolvedAt: new Date(this.#options.now) });
  }

  #change(incident: Alert, change: Partial<Alert>): void {
    this.changes.push({ alert: { ...incident, ...change }, isNew: false });
  }

  #send(name: AlertEventName, alert: Alert, isNew = false): void {
    this.changes.push({ alert, isNew, event: { name, record: presentEvent(name, alert) } });
  }
}

export const ofPipeline = ({ id }: WatchedPipeline): About => ({
  resourceType: 'pipeline',
  resourceId: id,
  pipelineId: id,
});

export const ofOrganization = (id: string): About => ({
  resourceType: 'organization',
  resourceId: id,
  pipelineId: null,
});

/** Returns what an alert says, which may be what its rule says since the last change of it. */
function saying({ row }: CompiledRule, { description, metadata }: Explanation) {
  const { name, severity, description: note } = row;
  return { name, severity, description: note === '' ? description : `${description}\n\n${note}`, metadata };
}
