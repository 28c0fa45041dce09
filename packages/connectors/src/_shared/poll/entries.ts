import type { ConnectorConfig, PollEach } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { PollClient } from './client.js';
import { nextPosition, pageCall } from './pagination.js';
import { PollError } from './poll-error.js';
import { recordsOf } from './records.js';

/** What a stream is read for. */
export interface Entry {
  /** ID or value. */
  id: string;
  /** ID of the entry that it belongs to. */
  parent?: string;
}

/** Maximum number of entries to keep cursors for. */
const MAX_ENTRIES = 2_000;
/** Maximum number of pages of a list, which may be empty. */
const MAX_PAGES = 1_000;

/**
 * Returns the entries that a stream is read for: from settings, fixed values, or all pages of lists.
 *
 * @throws PollError
 */
export async function readEntries(
  each: PollEach,
  client: PollClient,
  config: ConnectorConfig,
  signal: AbortSignal,
): Promise<Entry[]> {
  if ('values' in each) return each.values.map((id) => ({ id }));
  if ('setting' in each) return settingValues(getAt(config, each.setting)).map((id) => ({ id }));
  if (!each.each) return (await listIds(each, client, config, undefined, signal)).map((id) => ({ id }));
  const entries: Entry[] = [];
  for (const { id: parent } of await readEntries(each.each, client, config, signal)) {
    for (const id of await listIds(each, client, config, parent, signal)) entries.push({ id, parent });
    if (entries.length > MAX_ENTRIES) throw tooMany(client);
  }
  return entries;
}

function settingValues(value: unknown): string[] {
  const texts = [value].flat().flatMap((each) => (typeof each === 'string' || typeof each === 'number' ? [each] : []));
  return [...new Set(texts.map((each) => String(each).trim()).filter((each) => each !== ''))];
}

async function listIds(
  list: Extract<PollEach, { path: string }>,
  client: PollClient,
  config: ConnectorConfig,
  parent: string | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const ids = new Set<string>();
  const visited = new Set<string | undefined>();
  const values = { settings: config.settings, page_size: list.page_size, ...(parent !== undefined && { parent }) };
  for (let position: string | undefined; ;) {
    const first = client.request(list, values);
    const response = await client.send(pageCall(list.pagination, client, first, position) ?? first, signal);
    const found = recordsOf({ path: list.records.path }, response);
    if (!found) throw new PollError(unexpected(client.subject), 'retry');
    for (const entry of found) {
      const id: unknown = getAt(entry, list.records.id);
      if (typeof id === 'string' && id !== '') ids.add(id);
      else if (typeof id === 'number') ids.add(String(id));
    }
    if (ids.size > MAX_ENTRIES || visited.size >= MAX_PAGES) throw tooMany(client);
    visited.add(position);
    const page = { response, count: found.length, last: found.at(-1), pageSize: list.page_size, position };
    position = nextPosition(list.pagination, client, page);
    if (position === undefined || visited.has(position)) return [...ids];
  }
}

function tooMany({ subject }: PollClient): PollError {
  const message = `${subject.product} returned a list of more than ${MAX_ENTRIES} entries.`;
  return new PollError(failed('rejected', message), 'permanent');
}
