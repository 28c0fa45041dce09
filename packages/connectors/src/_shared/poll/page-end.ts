import type { PollPagination } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { PageRead } from './pagination.js';

/** Parses a flag such as `has_more`; `undefined` if there is none. */
export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return undefined;
  return !['', '0', 'false', 'no', 'n'].includes(value.trim().toLowerCase());
}

/** Whether a page with a token or link is the last one nevertheless. */
export function isEnd(pagination: PollPagination, { response, count }: PageRead): boolean {
  if (!('more' in pagination || 'ends' in pagination)) return false;
  const { more, ends } = pagination;
  if (ends === 'empty_page' && count === 0) return true;
  return more !== undefined && flagOf(getAt(response.body, more)) === false;
}

/**
 * Whether there is a page after this one where no token says so: by a flag, a total number, or
 * because the page is full.
 *
 * @param read number of pages or records up to the end of this page
 */
export function hasNext(
  pagination: Extract<PollPagination, { kind: 'offset' | 'page' | 'last_record' | 'repeat' | 'narrow' }>,
  { response: { body }, count, pageSize }: PageRead,
  read: { records: number; pages: number },
): boolean {
  const { more, ends } = pagination;
  if (more !== undefined) return flagOf(getAt(body, more)) === true;
  if (count === 0) return false;
  const total = 'total' in pagination ? numberAt(body, pagination.total) : undefined;
  const pages = 'total_pages' in pagination ? numberAt(body, pagination.total_pages) : undefined;
  if (total !== undefined || pages !== undefined)
    return (total === undefined || read.records < total) && (pages === undefined || read.pages < pages);
  return ends === 'empty_page' || count >= pageSize;
}

function numberAt(body: unknown, path: string | undefined): number | undefined {
  const value: unknown = path === undefined ? undefined : getAt(body, path);
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : undefined;
}
