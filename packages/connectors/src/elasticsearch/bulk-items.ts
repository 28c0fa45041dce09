import { ConnectorError, type WriteResult } from '@connector-frame/engine/connector-api';
import { toRetry } from '../_shared/output/split-batch.js';
import { throttled, unexpected } from '../_shared/output/failures.js';
import { at, text } from '../_shared/read.js';

/** The result of one document: its status, and the type and reason of its error. */
interface Item {
  status: number;
  type: string;
  reason: string;
}

/** `filter_path` of a request: the fields of the response that are read. */
export const FILTER = 'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason';

/**
 * Reasons by error type. They replace the cluster's own text, which may repeat a secret. Other
 * errors are described by their status.
 */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['mapper_parsing_exception', 'A field does not fit the mapping of the index.'],
  ['document_parsing_exception', 'A field does not fit the mapping of the index.'],
  ['strict_dynamic_mapping_exception', 'The index does not accept fields that are not in its mapping.'],
  ['illegal_argument_exception', 'The index does not accept this record.'],
]);

/**
 * Parses the items of the response to a `_bulk` request of `count` documents.
 * @throws ConnectorError if an item is missing
 */
export function itemsOf(body: unknown, count: number, product: string, action: 'create' | 'index' = 'create'): Item[] {
  const list = at(body, 'items');
  if (!Array.isArray(list) || list.length !== count) throw unexpected(product);
  return list.map((each: unknown): Item => {
    const item = at(each, action);
    const status = at(item, 'status');
    if (typeof status !== 'number') throw unexpected(product);
    const word = (...path: string[]): string => text(item, 'error', ...path) ?? '';
    return { status, type: word('type'), reason: `${word('reason')} ${word('caused_by', 'reason')}` };
  });
}

/** Returns whether a document was rejected because a data stream requires a timestamp. */
export const requiresTimestamp = ({ status, reason }: Item): boolean =>
  status === 400 && reason.includes('data stream timestamp field');

/**
 * Converts the items to the outcome of the records at `indexes`. A document that already exists
 * (409) counts as written: its ID is the record's, so it was created by an earlier attempt.
 * @throws ConnectorError if every record failed for a reason unrelated to the record itself
 */
export function outcomeOf(items: readonly Item[], indexes: readonly number[], product: string): WriteResult {
  const rejected: { index: number; reason: string }[] = [];
  const busy: number[] = [];
  const failing: number[] = [];
  const denied: number[] = [];
  for (const [position, { status, type }] of items.entries()) {
    const index = indexes[position];
    if (index === undefined || (status >= 200 && status < 300) || status === 409) continue;
    if (status === 429) busy.push(index);
    else if (status >= 500) failing.push(index);
    else if ([401, 403, 404].includes(status)) denied.push(index);
    else
      rejected.push({
        index,
        reason: REASONS.get(type) ?? `${product} does not accept this record (status ${status}).`,
      });
  }
  const open = [...busy, ...failing, ...denied].toSorted((a, b) => a - b);
  if (open.length === 0) return { ...(rejected.length > 0 && { rejected }) };
  const failure = failureOf({ busy: busy.length > 0, denied: denied.length > 0 }, product);
  if (open.length === indexes.length) throw failure;
  return { ...(rejected.length > 0 && { rejected }), retry: toRetry(failure, open) };
}

function failureOf({ busy, denied }: { busy: boolean; denied: boolean }, product: string): ConnectorError {
  if (denied)
    return new ConnectorError(
      'forbidden',
      `${product} does not have this index, or does not allow writing to it.`,
      'permanent',
    );
  return busy
    ? throttled(product)
    : new ConnectorError('upstream_error', `${product} returned an internal error for some records.`);
}
