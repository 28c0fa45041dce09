import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { lastId } from './id-order.js';
import { flagOf, hasNext, isEnd } from './page-end.js';
import { nextPosition, tokenPosition, type PageRead } from './pagination.js';
import { timeOf } from './record-time.js';
import type { StreamContext } from './stream-context.js';

/** Returns the position of the page after one, by the cursor and pagination of a stream. */
export function positionAfter(
  { stream, client }: StreamContext,
  page: PageRead,
  found: readonly DataRecord[],
): string | undefined {
  const { cursor } = stream;
  if (cursor.kind === 'id' && cursor.order !== 'descending') return lastId(found, stream.records.id, page.position);
  if (cursor.kind === 'link' || (cursor.kind === 'continue' && !cursor.token))
    return tokenPosition(stream.pagination, client, page);
  const { pagination } = stream;
  if (pagination.kind !== 'narrow') return nextPosition(pagination, client, page);
  const end = page.last && timeOf(page.last, stream.records, client.zone);
  return end !== undefined && hasNext(pagination, page, { records: 0, pages: 0 }) ? String(end) : undefined;
}

/** Whether a page is the last one although it has a next link or id; a later run resumes from there. */
export function isLastPage({ stream }: StreamContext, page: PageRead, next: string): boolean {
  const { cursor, pagination } = stream;
  const { count, pageSize, position } = page;
  if (cursor.kind === 'link' || (cursor.kind === 'continue' && !cursor.token))
    return count === 0 || next === position || isEnd(pagination, page);
  if (cursor.kind !== 'id' || cursor.order === 'descending') return false;
  if (next === position) return true;
  return cursor.more === undefined ? count < pageSize : flagOf(getAt(page.response.body, cursor.more)) !== true;
}
