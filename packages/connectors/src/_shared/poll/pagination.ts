import type { PollPagination } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import { withParameter, type PollCall } from './call.js';
import type { PollResponse, PollClient } from './client.js';
import { PollError } from './poll-error.js';

/** A page that has been read. */
export interface PageRead {
  response: PollResponse;
  /** Number of records in it. */
  count: number;
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
): PollCall | undefined {
  if (pagination.kind === 'none') return first;
  if ('parameter' in pagination && pagination.parameter !== undefined) {
    const { kind, parameter } = pagination;
    const from = position ?? (kind === 'page' ? String(pagination.first) : undefined);
    const isNumber = kind === 'page' || kind === 'offset';
    if (from === undefined) return first;
    return {
      ...withParameter(first, parameter, isNumber ? Number(from) : from),
      ...(!isNumber && { continued: true }),
    };
  }
  if (position === undefined) return first;
  const url = client.ownUrl(position, first.url);
  return url && { ...first, url, continued: true };
}

/**
 * Returns the token or link of the next page, or `undefined` if there is none.
 *
 * @throws PollError if the link points to another origin
 */
export function nextPosition(pagination: PollPagination, client: PollClient, page: PageRead): string | undefined {
  const { response, count, pageSize, position } = page;
  switch (pagination.kind) {
    case 'none':
      return undefined;
    case 'link_header':
      return sameOriginUrl(client, response, nextLink(response.headers.get('link') ?? ''))?.href;
    case 'body_cursor': {
      if (pagination.more !== undefined && getAt(response.body, pagination.more) === false) return undefined;
      const value: unknown = getAt(response.body, pagination.path);
      const text = Array.isArray(value) ? value.map(textOf).join(',') : textOf(value);
      return text === '' ? undefined : text;
    }
    case 'body_url': {
      const url = sameOriginUrl(client, response, textOf(getAt(response.body, pagination.path)));
      return pagination.parameter === undefined
        ? url?.href
        : (url?.searchParams.get(lastKey(pagination.parameter)) ?? undefined);
    }
    case 'offset':
      return count < pageSize ? undefined : String(Number(position ?? 0) + count);
    default:
      return count < pageSize ? undefined : String(Number(position ?? pagination.first) + 1);
  }
}

/**
 * Resolves a link to the next page. It must stay on the same origin: requests carry credentials.
 */
function sameOriginUrl(client: PollClient, { url: from }: PollResponse, text: string): URL | undefined {
  if (text === '') return undefined;
  const url = client.ownUrl(text, from);
  if (url) return url;
  const message = `${client.subject.product} returned a link to the next page on another origin. It was not followed.`;
  throw new PollError(failed('redirected', message), 'permanent');
}

/** Returns the name of a parameter: the last key of a pointer into the body. */
const lastKey = (parameter: string): string => parameter.slice(parameter.lastIndexOf('/') + 1);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** Returns the target of `rel="next"` in a `Link` header (RFC 8288), or `''`. */
function nextLink(header: string): string {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\s*(?:[;,]|$))/i.test(parameters)) return target;
  return '';
}
