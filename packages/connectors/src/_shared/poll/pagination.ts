import type { PollPagination } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import type { Answer, PollClient } from './client.js';
import { PollError } from './poll-error.js';

/** A page that has been read. */
export interface PageRead {
  answer: Answer;
  /** Number of records in it. */
  count: number;
  pageSize: number;
  /** Its page token, number, offset or link; `undefined` for the first page. */
  place: string | undefined;
}

/**
 * Returns the URL of a page: `first` with the page token as a parameter, or the page's own link.
 *
 * @returns `undefined` if the link points to another origin
 */
export function pageUrl(
  pagination: PollPagination,
  client: PollClient,
  first: URL,
  place: string | undefined,
): URL | undefined {
  if (pagination.kind === 'none') return first;
  if ('parameter' in pagination && pagination.parameter !== undefined) {
    const from = place ?? (pagination.kind === 'page' ? String(pagination.first) : undefined);
    if (from !== undefined) first.searchParams.set(pagination.parameter, from);
    return first;
  }
  return place === undefined ? first : client.ownUrl(place);
}

/**
 * Returns the token or link of the next page, or `undefined` if there is none.
 *
 * @throws PollError if the link points to another origin
 */
export function nextPlace(pagination: PollPagination, client: PollClient, page: PageRead): string | undefined {
  const { answer, count, pageSize, place } = page;
  switch (pagination.kind) {
    case 'none':
      return undefined;
    case 'link_header':
      return own(client, nextLink(answer.headers.get('link') ?? ''))?.href;
    case 'body_cursor': {
      const value: unknown = getAt(answer.body, pagination.path);
      const text = Array.isArray(value) ? value.map(textOf).join(',') : textOf(value);
      return text === '' ? undefined : text;
    }
    case 'body_url': {
      const url = own(client, textOf(getAt(answer.body, pagination.path)));
      return pagination.parameter === undefined
        ? url?.href
        : (url?.searchParams.get(pagination.parameter) ?? undefined);
    }
    case 'offset':
      return count < pageSize ? undefined : String(Number(place ?? 0) + count);
    default:
      return count < pageSize ? undefined : String(Number(place ?? pagination.first) + 1);
  }
}

/**
 * Resolves a link to the next page. It must stay on the same origin: requests carry credentials.
 */
function own(client: PollClient, text: string): URL | undefined {
  if (text === '') return undefined;
  const url = client.ownUrl(text);
  if (url) return url;
  const message = `${client.subject.product} named an address on another site for the next page. It was not followed.`;
  throw new PollError(failed('redirected', message), 'permanent');
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** Returns the target of `rel="next"` in a `Link` header (RFC 8288), or `''`. */
function nextLink(header: string): string {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\s*(?:[;,]|$))/i.test(parameters)) return target;
  return '';
}
