import type { PollDetail, PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { isRecord, type DataRecord } from '@connector-frame/engine/connector-api';
import { unexpected } from '../connection-test/failures.js';
import type { PollClient } from './client.js';
import { mapConcurrently } from './map-concurrently.js';
import { PollError } from './poll-error.js';
import type { Values } from './template.js';

const DEFAULT_CONCURRENCY = 4;
/** The record was deleted after it was listed. */
const GONE = [404, 410];

/**
 * Requests the details of records of a list, a limited number at once and within the rate limit,
 * and returns them in the order of the list.
 *
 * @throws PollError
 */
export async function withDetails(
  stream: PollStream & { detail: PollDetail },
  records: readonly DataRecord[],
  client: PollClient,
  values: Values,
  signal: AbortSignal,
): Promise<DataRecord[]> {
  const { detail } = stream;
  const { batch, concurrency = DEFAULT_CONCURRENCY, ids: path = stream.records.id } = detail;
  if (batch === undefined) {
    const read = async (record: DataRecord, aborted: AbortSignal): Promise<DataRecord[]> => {
      const body = await request(detail, client, { ...values, record }, aborted);
      return body === undefined ? [record] : combine(detail, record, getAt(body, detail.records?.path ?? ''), client);
    };
    return (await mapConcurrently(records, concurrency, read, signal)).flat();
  }
  const idOf = (record: DataRecord): string => (typeof path === 'string' ? textOf(getAt(record, path)) : '');
  const readBatch = async (part: readonly DataRecord[], aborted: AbortSignal): Promise<DataRecord[]> => {
    const ids = part.map(idOf).filter((id) => id !== '');
    const body = ids.length === 0 ? undefined : await request(detail, client, { ...values, ids }, aborted);
    if (body === undefined) return [...part];
    const found = detailsById(detail, body);
    if (!found) throw new PollError(unexpected(client.subject), 'retry');
    return part.flatMap((record) => {
      const each = found.get(idOf(record));
      return each === undefined ? [record] : combine(detail, record, each, client);
    });
  };
  return (await mapConcurrently(batches(records, batch), concurrency, readBatch, signal)).flat();
}

/** Returns the response body, or `undefined` if the record no longer exists. */
async function request(detail: PollDetail, client: PollClient, values: Values, signal: AbortSignal): Promise<unknown> {
  try {
    return (await client.send(client.request(detail, values), signal)).body ?? undefined;
  } catch (error) {
    if (error instanceof PollError && error.status !== undefined && GONE.includes(error.status)) return undefined;
    throw error;
  }
}

/** Returns the details of a batch by id: from a list, or an object whose keys are the ids. */
function detailsById({ records }: PollDetail, body: unknown): Map<string, unknown> | undefined {
  const found: unknown = getAt(body, records?.path ?? '');
  const { id } = records ?? {};
  if (Array.isArray(found))
    return id === undefined ? undefined : new Map(found.map((each: unknown) => [textOf(getAt(each, id)), each]));
  return isRecord(found) ? new Map(Object.entries(found)) : undefined;
}

function combine({ into = 'merge' }: PollDetail, record: DataRecord, found: unknown, client: PollClient): DataRecord[] {
  if (into === 'replace' && Array.isArray(found)) return found.filter((each: unknown) => isRecord(each));
  if (into !== 'merge' && into !== 'replace' && (isRecord(found) || Array.isArray(found)))
    return [{ ...record, [into]: found }];
  if (!isRecord(found)) throw new PollError(unexpected(client.subject), 'retry');
  return [into === 'replace' ? found : { ...record, ...found }];
}

const batches = (records: readonly DataRecord[], size: number): DataRecord[][] =>
  Array.from({ length: Math.ceil(records.length / size) }, (_, index) =>
    records.slice(index * size, (index + 1) * size),
  );

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
