import type { Received, Reply } from '../vendor.js';

/** A valid integration key: 32 letters and digits. */
export const PAGERDUTY_KEY = 'canary0pagerduty0key0123456789ab';

interface Event {
  routing_key?: unknown;
  event_action?: unknown;
  dedup_key?: unknown;
  payload?: Record<string, unknown>;
}

const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= max;
/** RFC 3339, as `format: date-time` asks. */
const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(value);

/**
 * Responds as the Events API v2 documents it: `POST /v2/enqueue` for alerts, `/v2/change/enqueue` for
 * changes. https://developer.pagerduty.com/docs/events-api-v2-overview, and the OpenAPI document of
 * https://github.com/PagerDuty/api-schema (reference/events-v2).
 */
export function pagerDuty({ method, url, headers, body }: Received): Reply {
  const isChange = url === '/v2/change/enqueue';
  if (method !== 'POST' || (url !== '/v2/enqueue' && !isChange)) return { status: 404, body: 'Not Found' };
  if (headers['content-type'] !== 'application/json') return { status: 400, body: 'Bad Request' };
  const event: Event = JSON.parse(body);
  const errors = [...keyErrors(event), ...(isChange ? [] : alertErrors(event)), ...payloadErrors(event, isChange)];
  if (errors.length > 0)
    return { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors } };
  return {
    status: 202,
    body: { status: 'success', message: 'Event processed', ...(!isChange && { dedup_key: event.dedup_key }) },
  };
}

function keyErrors({ routing_key: key }: Event): string[] {
  if (typeof key !== 'string' || key.length !== 32)
    return ["Length of 'routing_key' is incorrect (should be 32 characters)"];
  return key === PAGERDUTY_KEY ? [] : ["'routing_key' is invalid"];
}

function alertErrors({ event_action: action, dedup_key: key }: Event): string[] {
  const errors = ['trigger', 'acknowledge', 'resolve'].includes(String(action)) ? [] : ["'event_action' is invalid"];
  if (action !== 'trigger' && !isText(key, 255)) errors.push("'dedup_key' is missing or blank");
  if (key !== undefined && !isText(key, 255)) errors.push("'dedup_key' is too long");
  return errors;
}

function payloadErrors({ event_action: action, payload }: Event, isChange: boolean): string[] {
  if (!payload) return isChange || action === 'trigger' ? ["'payload' is missing or blank"] : [];
  const errors: string[] = [];
  if (!isText(payload['summary'], 1_024)) errors.push("'payload.summary' is missing, blank or too long");
  if (!isText(payload['source'], 255)) errors.push("'payload.source' is missing, blank or too long");
  if (payload['timestamp'] !== undefined && !isTime(payload['timestamp']))
    errors.push("'payload.timestamp' is invalid");
  if (!isChange && !['critical', 'warning', 'error', 'info'].includes(String(payload['severity'])))
    errors.push(
      "'payload.severity' is invalid (must be one of the following: 'critical', 'warning', 'error' or 'info')",
    );
  for (const name of ['component', 'group', 'class'])
    if (payload[name] !== undefined && (isChange || !isText(payload[name], 255)))
      errors.push(`'payload.${name}' is invalid`);
  const details = payload['custom_details'];
  if (details !== undefined && (typeof details !== 'object' || details === null || Array.isArray(details)))
    errors.push("'payload.custom_details' is not an object");
  return errors;
}
