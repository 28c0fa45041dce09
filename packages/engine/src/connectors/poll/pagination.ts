import type { PollPagination } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import type { Answer, PollClient } from './client.js';
import { PollError } from './poll-error.js';

/** The page an answer is. */
export interface PageRead {
  answer: Answer;
  /** Records in it. */
  count: number;
  pageSize: number;
  /** Where it was read; `undefined`: at the beginning. */
  place: string | undefined;
}

/** The address of a page: `first` with its place in it, or the place itself. `undefined`: that place is not ours to ask. */
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

/** Where the next page is; `undefined`: there is none. @throws PollError when it would be on another site */
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

/** The credential goes along with the next request, so that must go to the same site. */
function own(client: PollClient, text: string): URL | undefined {
  if (text === '') return undefined;
  const url = client.ownUrl(text);
  if (url) return url;
  const message = `${client.subject.product} named an address on another site for the next page. It was not followed.`;
  throw new PollError(failed('redirected', message), 'permanent');
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** The target of `rel="next"` in a `Link` header, RFC 8288; empty when there is none. */
function nextLink(header: string): string {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\s*(?:[;,]|$))/i.test(parameters)) return target;
  return '';
}
