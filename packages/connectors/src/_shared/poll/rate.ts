import type { PollRate, PollThrottled } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';

interface Answered {
  status: number;
  headers: Headers;
  body: unknown;
}

const DEFAULT_WAIT = 60;

/**
 * Returns how long the vendor asks to wait, in milliseconds, or `undefined` if the response does
 * not report rate limiting.
 *
 * @param now local time, in milliseconds since the epoch
 */
export function throttledFor(rate: PollRate, answer: Answered, now: number): number | undefined {
  const { status, headers } = answer;
  const asked = retryAfter(headers, now);
  const less =
    status === 429 ||
    (status === 503 && asked !== undefined) ||
    (rate.throttled ?? []).some((rule) => matches(rule, answer));
  if (!less) return undefined;
  return asked ?? untilReset(rate, headers, now) ?? (rate.wait_seconds ?? DEFAULT_WAIT) * 1_000;
}

/**
 * Returns the milliseconds until the quota resets if this request used it up, otherwise
 * `undefined`.
 */
export function spentFor(rate: PollRate, headers: Headers, now: number): number | undefined {
  if (rate.remaining === undefined || Number(headers.get(rate.remaining) ?? 1) > 0) return undefined;
  return untilReset(rate, headers, now);
}

function matches(rule: PollThrottled, { status, headers, body }: Answered): boolean {
  if (rule.status !== status) return false;
  if ('header' in rule) {
    const value = headers.get(rule.header);
    return value !== null && (rule.is === undefined || rule.is === value);
  }
  const value = getAt(body, rule.path);
  return typeof value === 'string' && rule.in.includes(value);
}

/**
 * Parses `Retry-After`: seconds, or a date in HTTP format or, as some vendors send it, RFC 3339.
 */
function retryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - theirNow(headers, now));
}

function untilReset(
  { reset, reset_form: form = 'epoch' }: PollRate,
  headers: Headers,
  now: number,
): number | undefined {
  const text = reset === undefined ? null : headers.get(reset);
  if (text === null || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined;
  return form === 'seconds' ? Number(text) * 1_000 : Math.max(0, Number(text) * 1_000 - theirNow(headers, now));
}

/** Returns the vendor's time, since timestamps in its headers refer to its clock, not ours. */
function theirNow(headers: Headers, now: number): number {
  const date = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(date) ? now : date;
}
