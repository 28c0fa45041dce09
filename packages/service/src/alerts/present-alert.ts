import type { Alert } from '../store/alerts.js';
import type { AlertEventName } from '../store/tables.js';
import { secondsOf } from './rule-type.js';

const seconds = (time: Date): number => secondsOf(time.getTime());

/** Formats an alert for clients. Times are Unix seconds. */
export function presentAlert(alert: Alert) {
  const { resourceType, resourceId, pipelineId, clearingStartedAt, resolvedAt } = alert;
  return {
    id: alert.id,
    name: alert.name,
    description: alert.description,
    organization_id: alert.organizationId,
    rule_id: alert.ruleId,
    rule_type: alert.ruleType,
    severity: alert.severity,
    resource: {
      resource_type: resourceType,
      resource_id: resourceId,
      ...(resourceType === 'node' && pipelineId !== null && { parent_type: 'pipeline', parent_id: pipelineId }),
    },
    status: {
      state: resolvedAt ? ('RESOLVED' as const) : ('FIRING' as const),
      ...(clearingStartedAt && { clearing_started_at: seconds(clearingStartedAt) }),
      ...(resolvedAt && { resolved_at: seconds(resolvedAt) }),
    },
    metadata: alert.metadata,
    created_at: seconds(alert.createdAt),
    fired_at: seconds(alert.firedAt),
  };
}

/** Formats what happened to an alert: an event of the stream, and a record of a pipeline. */
export const presentEvent = (event: AlertEventName, alert: Alert) => ({ event, ...presentAlert(alert) });
