import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { type DataRecord, parseKeyPath, valueAt } from '@connector-frame/engine/connector-api';
import { alertOf } from '../_shared/alert-of.js';
import { text } from '../_shared/read.js';

/** https://developer.pagerduty.com/docs/send-alert-event */
const MAX_SUMMARY = 1_024;
/** Characters of the other texts of an event. */
const MAX_TEXT = 255;
/** Bytes of an event, below PagerDuty's limit of 512 KB. */
const MAX_EVENT_BYTES = 500_000;

const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const;
type Severity = (typeof SEVERITIES)[number];

/** Severities of other products, and of the alerts of this service. */
const SYNONYMS: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  fatal: 'critical',
  emergency: 'critical',
  error: 'error',
  high: 'error',
  warning: 'warning',
  warn: 'warning',
  medium: 'warning',
  info: 'info',
  informational: 'info',
  low: 'info',
};

const SOURCE = 'Connector Frame';

/** A request to the Events API v2, without the integration key. */
export interface PagerDutyEvent {
  path: '/v2/enqueue' | '/v2/change/enqueue';
  body: DataRecord;
}

/** Returns the event for a record. `recordId` is the same for a record that is delivered again. */
export type ToEvent = (record: DataRecord, recordId: string) => PagerDutyEvent;

/** Returns the value of the field that a setting names, as a text. */
type Field = (record: DataRecord) => string | undefined;

/** Compiles the settings. */
export function createToEvent({ settings }: Pick<ConnectorConfig, 'settings'>): ToEvent {
  const field = (...path: string[]): Field => {
    const key = text(settings, ...path);
    const parsed = key === undefined ? undefined : parseKeyPath(key);
    return (record) => (parsed ? shown(valueAt(record, parsed)) : undefined);
  };
  if (text(settings, 'default_event_type') === 'change') {
    const [summary, source] = [field('summary_config', 'change_summary'), field('summary_config', 'change_source')];
    return (record) => changeOf(record, summary(record), source(record));
  }
  const fields = {
    severity: field('alerts_config', 'severity'),
    class: field('alerts_config', 'class'),
    group: field('alerts_config', 'group'),
    summary: field('summary_config', 'alert_summary'),
    source: field('summary_config', 'alert_source'),
  };
  const fixed = severityIn(text(settings, 'alerts_config', 'severity'));
  return (record, recordId) => alertEventOf(record, recordId, fields, fixed);
}

function alertEventOf(
  record: DataRecord,
  recordId: string,
  fields: Readonly<Record<'severity' | 'class' | 'group' | 'summary' | 'source', Field>>,
  fixed: Severity | undefined,
): PagerDutyEvent {
  const alert = alertOf(record);
  // One incident of ours is one alert in PagerDuty; any other record opens its own.
  const key = { dedup_key: cut(alert?.id ?? recordId, MAX_TEXT) };
  if (alert?.isResolved) return { path: '/v2/enqueue', body: { event_action: 'resolve', ...key } };
  const severity = severityIn(fields.severity(record)) ?? fixed ?? severityIn(alert?.severity) ?? 'critical';
  const named = alert && `${alert.name}: ${alert.description}`;
  const [kind, group] = [fields.class(record) ?? alert?.ruleType, fields.group(record)];
  const payload = {
    summary: cut(fields.summary(record) ?? named ?? 'Alert from a pipeline', MAX_SUMMARY),
    severity,
    source: cut(fields.source(record) ?? alert?.subject ?? SOURCE, MAX_TEXT),
    ...(alert && { timestamp: new Date(alert.at).toISOString() }),
    ...(alert?.node !== undefined && { component: cut(alert.node, MAX_TEXT) }),
    ...(kind !== undefined && { class: cut(kind, MAX_TEXT) }),
    ...(group !== undefined && { group: cut(group, MAX_TEXT) }),
    custom_details: detailsOf(record),
  };
  return { path: '/v2/enqueue', body: { event_action: 'trigger', ...key, client: SOURCE, payload } };
}

function changeOf(record: DataRecord, summary: string | undefined, source: string | undefined): PagerDutyEvent {
  const alert = alertOf(record);
  const state = alert && (alert.isResolved ? 'resolved' : 'firing');
  const payload = {
    summary: cut(summary ?? (alert && `${alert.name} is ${state}`) ?? 'Change from a pipeline', MAX_SUMMARY),
    source: cut(source ?? alert?.subject ?? SOURCE, MAX_TEXT),
    ...(alert && { timestamp: new Date(alert.at).toISOString() }),
    custom_details: detailsOf(record),
  };
  return { path: '/v2/change/enqueue', body: { payload } };
}

/** An event without the record is better than one that PagerDuty refuses. */
const detailsOf = (record: DataRecord): DataRecord =>
  Buffer.byteLength(JSON.stringify(record)) <= MAX_EVENT_BYTES
    ? record
    : { omitted: 'The record is larger than an event may be.' };

const severityIn = (value: string | undefined): Severity | undefined =>
  value === undefined ? undefined : SYNONYMS[value.trim().toLowerCase()];

function shown(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const string = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  return string === '' ? undefined : string;
}

/** Does not cut inside a surrogate pair. */
const cut = (value: string, max: number): string =>
  value.length <= max ? value : `${value.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
