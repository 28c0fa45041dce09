import type { ServiceRequest } from '@connector-frame/core/connect';
import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';

/** Page size: the maximum that the service returns. */
const pageSize = 1_000;

/** Maximum number of pages, in case the list never ends. */
const maxPages = 1_000;

/**
 * Returns all rows of a paginated list, without duplicate IDs. The offset advances by the number of
 * rows received, because a service may return fewer than requested. The list ends at its `total`,
 * at an empty page, or at a page without new rows.
 */
export async function listAll(request: ServiceRequest, path: string, key: string): Promise<UnknownRecord[]> {
  const rows = new Map<string, UnknownRecord>();
  let offset = 0;
  for (let page = 0; page < maxPages; page += 1) {
    const answer = await request(`${path}?limit=${pageSize}&offset=${offset}`, {});
    const batch = rowsOf(answer, key);
    const known = rows.size;
    for (const row of batch) if (typeof row['id'] === 'string') rows.set(row['id'], row);
    offset += batch.length;
    const total = totalOf(answer);
    if (rows.size === known || (total !== undefined && offset >= total)) return [...rows.values()];
  }
  throw new HostError('upstream_error', 'The list does not end.');
}

function rowsOf(answer: unknown, key: string): UnknownRecord[] {
  const rows: unknown = isRecord(answer) ? answer[key] : undefined;
  if (!Array.isArray(rows)) throw new HostError('upstream_error', 'The service answered in an unknown shape.');
  return rows.filter(isRecord);
}

function totalOf(answer: unknown): number | undefined {
  const pagination = isRecord(answer) ? answer['pagination'] : undefined;
  const total = isRecord(pagination) ? pagination['total'] : undefined;
  return typeof total === 'number' ? total : undefined;
}
