import { isRecord, type DataRecord } from '@connector-frame/engine/connector-api';
import { at, text } from './read.js';

/** A record of the input `monad-alerts`. */
export interface AlertRecord {
  id: string;
  name: string;
  description: string;
  severity: string;
  isResolved: boolean;
  /** Whether it has been sent as firing before. */
  isReminder: boolean;
  ruleType: string;
  /** Milliseconds since the epoch: when it was sent as firing, or resolved. */
  at: number;
  /** Milliseconds since the epoch. */
  beganAt: number;
  /** Name of the pipeline that it is about, or an ID. */
  subject: string;
  /** The node that it is about. */
  node: string | undefined;
}

/** Returns a record as an alert, or `undefined` if it is not one. */
export function alertOf(record: DataRecord): AlertRecord | undefined {
  const id = text(record, 'id');
  const state = text(record, 'status', 'state');
  const { created_at: began, fired_at: fired } = record;
  if (id === undefined || text(record, 'rule_id') === undefined || !isRecord(record['resource'])) return undefined;
  if ((state !== 'FIRING' && state !== 'RESOLVED') || typeof began !== 'number' || typeof fired !== 'number')
    return undefined;
  const resolved = at(record, 'status', 'resolved_at');
  return {
    id,
    name: text(record, 'name') ?? 'Alert',
    description: text(record, 'description') ?? '',
    severity: text(record, 'severity') ?? '',
    isResolved: state === 'RESOLVED',
    isReminder: state === 'FIRING' && fired > began,
    ruleType: text(record, 'rule_type') ?? '',
    at: (state === 'RESOLVED' && typeof resolved === 'number' ? resolved : fired) * 1_000,
    beganAt: began * 1_000,
    subject: text(record, 'metadata', 'pipeline_name') ?? text(record, 'resource', 'resource_id') ?? '',
    node: text(record, 'metadata', 'node_slug'),
  };
}
