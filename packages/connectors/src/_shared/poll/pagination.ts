import type { PollPagination } from '@connector-frame/catalog/types';
import { getAt, isEmpty } from '@connector-frame/catalog/validate';
import { isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { failed } from '../connection-test/outcome.js';
import { withParameter, type PollCall } from './call.js';
import type { PollResponse, PollClient } from './client.js';
import { escapePlus, nextLink, parameterOf } from './next-link.js';
import { hasNext, isEnd } from './page-end.js';
import { PollError } from './poll-error.js';
import { setHeader } from './signing.js';

/** A page that has been read. */
export interface PageRead {
  response: PollResponse;
  /** Number of records in it. */
  count: number;
  /** Its last record. */
  last?: DataRecord | undefined;
  pageSize: number;
  /** Its page token, number, offset or link; `undefined` for the first page. */
  position: string | undefined;
}

/**
 * Returns the call for a page: `first` with the page token as a parameter, or with the page's own
 * link as its URL.
 *
 * @returns `undefined` if the link points to another origin
 */
export function pageCall(
  pagination: PollPagination,
  client: PollClient,
  first: PollCall,
  position: string | undefined,
  pageSize: number,
): PollCall | undefined {
  if (['none', 'repeat', 'narrow'].includes(pagination.kind)) return first;
  if ('parameter' in pagination && pagination.parameter !== undefined) {
    const { kind, parameter } = pagination;
    const from = position ?? (kind === 'page' || kind === 'offset' ? pagination.first?.toString() : undefined);
    const isNumber = kind === 'page' || kind === 'offset';
    const end = kind === 'offset' ? pagination.end : undefined;
    // With an end, the start is stated on the first page too.
    if (end !== undefined) {
      const index = Number(from ?? 0);
      return withParameter(withParameter(first, parameter, index), end, index + pageSize);
    }
    if (from === undefined) return first;
    const isJson = isNumber || ('json' in pagination && pagination.json);
    return {
      ...withParameter(first, parameter, isJson ? parsed(from) : from),
      ...(!isNumber && { continued: true }),
    };
  }
  if (position === undefined) return first;
  if (pagination.kind === 'body_headers')
    return { ...first, headers: withTokens(first.headers, position), continued: true };
  const url = client.ownUrl(position, first.url);
  return url && { ...first, url, continued: true };
}

/**
 * Returns the token or link of the next page, or `undefined` if there is none.
 *
 * @throws PollError if the link points to another origin
 */
export function nextPosition(pagination: PollPagination, client: PollClient, page: PageRead): string | undefined {
  if (isCounted(pagination)) return countedPosition(pagination, page);
  return isEnd(pagination, page) ? undefined : tokenPosition(pagination, client, page);
}

/**
 * Returns the token or link in a response, also if the page is the last one.
 *
 * @throws PollError if the link points to another origin
 */
export function tokenPosition(pagination: PollPagination, client: PollClient, page: PageRead): string | undefined {
  const { response } = page;
  switch (pagination.kind) {
    case 'link_header':
      return resolve(client, response, nextLink(response.headers.get('link') ?? ''))?.href;
    case 'header_cursor':
      return response.headers.get(pagination.header)?.trim() || undefined;
    case 'header_url':
      return resolve(client, response, response.headers.get(pagination.header) ?? '', pagination.relative_to)?.href;
    case 'body_cursor': {
      const token = (pagination.json ? jsonAt : textAt)(response.body, pagination.path);
      return (pagination.decode ? percentDecoded(token) : token) || undefined;
    }
    case 'body_headers':
      return tokensAt(response.body, pagination.headers);
    case 'body_url': {
      const url = resolve(client, response, textAt(response.body, pagination.path), pagination.relative_to);
      return pagination.parameter === undefined ? url?.href : url && parameterOf(url, lastKey(pagination.parameter));
    }
    default:
      return undefined;
  }
}

/** Returns a token in a response: a string or number, or several joined with a comma; `''` if there is none. */
export function textAt(body: unknown, path: string): string {
  const value: unknown = getAt(body, path);
  return Array.isArray(value) ? value.map(textOf).join(',') : textOf(value);
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

/** Returns a token that is a list or an object, as JSON; `''` if there is none. */
function jsonAt(body: unknown, path: string): string {
  const value: unknown = getAt(body, path);
  return isEmpty(value) ? '' : JSON.stringify(value);
}

/** Returns tokens by the headers that they are sent as, as JSON; `undefined` without the first of them. */
function tokensAt(body: unknown, headers: Readonly<Record<string, string>>): string | undefined {
  const tokens = Object.entries(headers).map(([name, path]) => [name, textAt(body, path)] as const);
  if (tokens[0]?.[1] === '') return undefined;
  return JSON.stringify(Object.fromEntries(tokens.filter(([, token]) => token !== '')));
}

/** Adds tokens to the headers of a request. */
function withTokens(given: Headers | undefined, position: string): Headers {
  const headers = new Headers(given);
  const tokens = parsed(position);
  if (isRecord(tokens)) for (const [name, token] of Object.entries(tokens)) setHeader(headers, name, textOf(token), '');
  return headers;
}

/** A position is JSON unless the stored state was changed. */
function parsed(position: string): JsonValue {
  try {
    return JSON.parse(position);
  } catch {
    return position;
  }
}

type Counted = Extract<PollPagination, { kind: 'offset' | 'page' | 'last_record' | 'repeat' }>;

const isCounted = (pagination: PollPagination): pagination is Counted =>
  ['offset', 'page', 'last_record', 'repeat'].includes(pagination.kind);

function countedPosition(pagination: Counted, page: PageRead): string | undefined {
  const { count, last, pageSize, position } = page;
  switch (pagination.kind) {
    case 'offset': {
      const first = pagination.first ?? 0;
      const from = Number(position ?? first);
      const next = from + (pagination.step === 'page_size' || count === 0 ? pageSize : count);
      return hasNext(pagination, page, { records: next - first, pages: 0 }) ? String(next) : undefined;
    }
    case 'page': {
      const next = Number(position ?? pagination.first) + 1;
      const pages = next - pagination.first;
      return hasNext(pagination, page, { records: pages * pageSize, pages }) ? String(next) : undefined;
    }
    case 'repeat':
      // Not sent: it only counts the pages.
      return hasNext(pagination, page, { records: 0, pages: 0 }) ? String(Number(position ?? 0) + 1) : undefined;
    default:
      return hasNext(pagination, page, { records: 0, pages: 0 })
        ? (pagination.json ? jsonAt : textAt)(last, pagination.path) || undefined
        : undefined;
  }
}

/**
 * Resolves a link to the next page. It must stay on the same origin: requests carry credentials.
 *
 * @throws PollError if the link points to another origin
 */
export function resolve(
  client: PollClient,
  { url: from }: PollResponse,
  text: string,
  relativeTo?: 'base_url',
): URL | undefined {
  if (text.trim() === '') return undefined;
  const link = escapePlus(text.trim());
  const isPath = !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link);
  const url = client.ownUrl(relativeTo && isPath ? `${client.basePath}/${link.replace(/^\//, '')}` : link, from);
  if (url) return url;
  const message = `${client.subject.product} returned a link to the next page on another origin. It was not followed.`;
  throw new PollError(failed('redirected', message), 'permanent');
}

/** Returns the name of a parameter: the last key of a pointer into the body. */
const lastKey = (parameter: string): string => parameter.slice(parameter.lastIndexOf('/') + 1);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
