import type {
  DeliveryMatch,
  DeliveryMeaning,
  DeliveryPartial,
  DeliveryResponses,
  DeliveryRule,
} from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { ConnectorError, isRecord, type Rejection } from '@connector-frame/engine/connector-api';
import { retryAfter, statusFailure, throttled, unexpected } from '../output/failures.js';
import type { HttpResponse } from '../output/send.js';
import { parseXml } from '../poll/xml-body.js';
import { textOf } from './placeholders.js';
import { toRetry, type PartResult } from '../output/split-batch.js';

/** Statuses that reject the payload, unless a rule says otherwise. */
const REFUSED = [400, 413, 422];
/** Statuses that stand for a meaning in the general messages. */
const STATUS_OF: Partial<Record<DeliveryMeaning | 'status', number>> = {
  invalid_credentials: 401,
  forbidden: 403,
  not_found: 404,
  retry: 500,
};

/** A response with its body as JSON (or XML), or else as text. */
export interface ParsedResponse extends HttpResponse {
  body: unknown;
}

export function parseResponse(response: HttpResponse, format?: 'lines'): ParsedResponse {
  const isXml = /[/+]xml\b/.test(response.headers.get('content-type') ?? '');
  const parseBody = isXml ? parseXmlOrText : parse;
  const body = format === 'lines' ? response.text.trim().split('\n').map(parse) : parseBody(response.text);
  return { ...response, body: withoutNamespace(body) };
}

/** Some services of AWS name their errors `com.amazonaws.kinesis#ResourceNotFoundException`. */
function withoutNamespace(body: unknown): unknown {
  if (!isRecord(body) || typeof body['__type'] !== 'string') return body;
  return { ...body, __type: body['__type'].replace(/^.*#/, '') };
}

/** Whether a response matches. An entry of `in` is compared as text: some vendors send numbers so. */
export function matches(match: DeliveryMatch, { status, headers, body }: ParsedResponse): boolean {
  if (match.status !== undefined && ![match.status].flat().includes(status)) return false;
  if (match.header !== undefined && !fits(headers.get(match.header) ?? undefined, match)) return false;
  return match.path === undefined || fits(getAt(body, match.path), match);
}

const fits = (value: unknown, { in: list, not, contains }: DeliveryMatch): boolean =>
  isOneOf(value, list) &&
  (not === undefined || !isOneOf(value, not)) &&
  (contains === undefined || (textOf(value)?.includes(contains) ?? false));

/**
 * Whether a response is a page of an intermediary, such as a sign-in page. Some vendors send an empty
 * body, or JSON, as HTML.
 */
export const isPage = ({ headers, text }: HttpResponse): boolean =>
  (headers.get('content-type') ?? '').includes('text/html') && text.trimStart().startsWith('<');

/** Returns what a response means: that of the first rule that matches. */
export function meaningOf(
  { rules = [], accepted }: DeliveryResponses,
  response: ParsedResponse,
  now: number,
): { means: DeliveryMeaning | 'unexpected' | 'status'; rule?: DeliveryRule } {
  const { status, headers } = response;
  const rule = rules.find((each) => matches(each, response));
  if (rule) return { means: rule.means, rule };
  if (status >= 200 && status < 300) {
    return { means: isPage(response) || (accepted && !matches(accepted, response)) ? 'unexpected' : 'accepted' };
  }
  if (status === 429 || (status === 503 && retryAfter(headers, now) !== undefined)) return { means: 'throttled' };
  return { means: REFUSED.includes(status) ? 'refused' : 'status' };
}

/**
 * Converts a response to the outcome of the records at `indexes`.
 *
 * @throws ConnectorError if it says nothing about single records
 */
export function outcomeOf(
  definition: DeliveryResponses,
  response: ParsedResponse,
  { indexes, product, now }: { indexes: readonly number[]; product: string; now: number },
): PartResult {
  const { means, rule } = meaningOf(definition, response, now);
  if (means === 'accepted')
    return definition.partial ? partialOutcome(definition.partial, response, indexes, product) : {};
  if (means === 'refused')
    return { partRejection: rule?.message ?? `${product} does not accept this record (HTTP ${response.status}).` };
  throw failureOf(means, rule, response, product, now);
}

function failureOf(
  means: DeliveryMeaning | 'unexpected' | 'status',
  rule: DeliveryRule | undefined,
  response: ParsedResponse,
  product: string,
  now: number,
): ConnectorError {
  if (means === 'unexpected') return unexpected(product);
  if (means === 'throttled') return throttled(product, retryAfter(response.headers, now));
  const { status, headers } = response;
  const general = statusFailure(
    { status: STATUS_OF[means] ?? (means === 'rejected' ? 400 : status), headers },
    product,
    now,
  );
  const { code, kind } = general;
  if (rule?.message !== undefined) return new ConnectorError(code, rule.message, kind, general.afterMs);
  return means === 'status'
    ? general
    : new ConnectorError(code, general.message.replace(/\(HTTP \d+\)/, `(HTTP ${status})`), kind);
}

function partialOutcome(
  partial: DeliveryPartial,
  response: ParsedResponse,
  indexes: readonly number[],
  product: string,
): PartResult {
  if (partial.status && !partial.status.includes(response.status)) return {};
  const found: unknown = getAt(response.body, partial.path);
  const items: unknown[] = Array.isArray(found) ? found : [];
  // Without a result for each record, none is known to be written.
  if (partial.index === undefined && items.length !== indexes.length) throw unexpected(product);
  const rejected: Rejection[] = [];
  const again: number[] = [];
  for (const [position, item] of items.entries()) {
    if (!isFailed(partial, item)) continue;
    const at = partial.index === undefined ? position : Number(getAt(item, partial.index)) - (partial.first ?? 0);
    const index = indexes[at];
    if (index === undefined) throw unexpected(product);
    if (partial.retry && isOneOf(getAt(item, partial.retry.path), partial.retry.in)) again.push(index);
    else if (!rejected.some((entry) => entry.index === index))
      rejected.push({ index, reason: `${product} does not accept this record.` });
  }
  if (again.length === 0) return { ...(rejected.length > 0 && { rejected }) };
  const failure = new ConnectorError('upstream_error', `${product} could not take some records at this time.`);
  if (again.length === indexes.length) throw failure;
  return { ...(rejected.length > 0 && { rejected }), retry: toRetry(failure, again) };
}

function isFailed({ failed }: DeliveryPartial, item: unknown): boolean {
  if (!failed) return true;
  const value: unknown = getAt(item, failed.path);
  if (failed.not) return !isOneOf(value, failed.not);
  return isOneOf(value, failed.in);
}

function isOneOf(value: unknown, list: readonly (string | number | boolean)[] | undefined): boolean {
  if (value === undefined || value === null) return false;
  if (!list) return value !== '' && value !== false;
  return list.some((each) => String(each) === textOf(value));
}

function parseXmlOrText(text: string): unknown {
  try {
    return parseXml(text);
  } catch {
    return text.trim();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.trim();
  }
}
