import type { PollQuota, PollRate, PollThrottled, PollWaitForm } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { ResponseParts } from './response-rules.js';

const DEFAULT_WAIT = 60;

/**
 * Returns how long the vendor asks to wait, in milliseconds, or `undefined` if the response does
 * not report rate limiting.
 *
 * @param now local time, in milliseconds since the epoch
 * @param isThrottled a rule of the definition says that it does
 */
export function throttleDelay(
  rate: PollRate,
  response: ResponseParts,
  now: number,
  isThrottled = false,
): number | undefined {
  const { status, headers } = response;
  const retryAfterMs = retryAfter(headers, now);
  const throttled =
    isThrottled ||
    status === 429 ||
    (status === 503 && retryAfterMs !== undefined) ||
    (rate.throttled ?? []).some((rule) => matches(rule, response));
  if (!throttled) return undefined;
  return (
    retryAfterMs ??
    statedDelay(rate, response, now) ??
    quotaResetDelay(rate, headers, now) ??
    untilReset(rate, headers, now) ??
    (rate.wait_seconds ?? DEFAULT_WAIT) * 1_000
  );
}

/**
 * Returns the milliseconds until all quotas that this request used up are reset, otherwise
 * `undefined`.
 */
export function quotaResetDelay(rate: PollRate, headers: Headers, now: number): number | undefined {
  const delays = [rate, ...(rate.quotas ?? [])].flatMap((quota) =>
    isUsedUp(quota, headers) ? (untilReset(quota, headers, now) ?? []) : [],
  );
  return delays.length === 0 ? undefined : Math.max(...delays);
}

const isUsedUp = ({ remaining }: PollQuota, headers: Headers): boolean =>
  remaining !== undefined && Number(headers.get(remaining) ?? 1) <= 0;

function matches(rule: PollThrottled, { status, headers, body }: ResponseParts): boolean {
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
  return Number.isNaN(at) ? undefined : Math.max(0, at - vendorNow(headers, now));
}

/** Returns the delay that the vendor states in its own way. */
function statedDelay(
  { retry_after: stated }: PollRate,
  { headers, body }: ResponseParts,
  now: number,
): number | undefined {
  if (!stated) return undefined;
  const { header, path, form = 'seconds' } = stated;
  const value: unknown = header === undefined ? undefined : headers.get(header);
  return delayOf(value ?? (path === undefined ? undefined : getAt(body, path)), form, headers, now);
}

function untilReset(
  { reset, reset_form: form = 'epoch' }: PollQuota,
  headers: Headers,
  now: number,
): number | undefined {
  return reset === undefined ? undefined : delayOf(headers.get(reset), form, headers, now);
}

/** Returns the milliseconds until a time, or `undefined` if it is not in this format. */
function delayOf(value: unknown, form: PollWaitForm, headers: Headers, now: number): number | undefined {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  if (form === 'date') {
    const at = Date.parse(text);
    return Number.isNaN(at) ? undefined : Math.max(0, at - vendorNow(headers, now));
  }
  if (!/^\d+(\.\d+)?$/.test(text)) return undefined;
  const ms = Number(text) * (form === 'seconds' || form === 'epoch' ? 1_000 : 1);
  return form === 'seconds' || form === 'milliseconds' ? ms : Math.max(0, ms - vendorNow(headers, now));
}

/** Returns the vendor's time, since timestamps in its headers refer to its clock, not ours. */
function vendorNow(headers: Headers, now: number): number {
  const date = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(date) ? now : date;
}
