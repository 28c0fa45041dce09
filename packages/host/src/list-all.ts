import type { ServiceRequest } from '@connector-frame/core/connect';
import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';

/** Rows per request: the service's maximum. */
const pageSize = 1_000;

/** Limit for a list that never ends. */
const maxPages = 1_000;

/**
 * Returns all rows of a paged list, without duplicate ids. The offset advances by the number of rows
 * received, because a service may return fewer than requested. The list ends at its `total`, with an
 * empty page, or with a page that contains nothing new.
 */
export async function listAll(request: ServiceRequest, path: string, key: string): Promise<UnknownRecord[]> {
  const rows = new Map<string, UnknownRecord>();
  let offset = 0;
  for (let page = 0; page < maxPages; page += 1) {
    const body = await request(`${path}?limit=${pageSize}&offset=${offset}`, {});
    const batch = rowsOf(body, key);
    const known = rows.size;
    for (const row of batch) if (typeof row['id'] === 'string') rows.set(row['id'], row);
    offset += batch.length;
    const total = totalOf(body);
    if (rows.size === known || (total !== undefined && offset >= total)) return [...rows.values()];
  }
  throw new HostError('upstream_error', 'The service sent a list that does not end.');
}

function rowsOf(body: unknown, key: string): UnknownRecord[] {
  const rows: unknown = isRecord(body) ? body[key] : undefined;
  // Some services send `null` for an empty list.
  if (rows === null) return [];
  if (!Array.isArray(rows)) throw new HostError('upstream_error', 'The service sent an unexpected response.');
  return rows.filter(isRecord);
}

function totalOf(body: unknown): number | undefined {
  const pagination = isRecord(body) ? body['pagination'] : undefined;
  const total = isRecord(pagination) ? pagination['total'] : undefined;
  return typeof total === 'number' ? total : undefined;
}
