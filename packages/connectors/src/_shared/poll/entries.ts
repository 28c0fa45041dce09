import type { PollEach, PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { JsonValue } from '@connector-frame/engine/connector-api';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { PollClient } from './client.js';
import { nextPosition, pageCall } from './pagination.js';
import { PollError } from './poll-error.js';
import { recordsOf } from './records.js';
import { isSelected } from './select.js';
import { jsonOf, valueOf, type Values } from './template.js';

/** What a stream is read for. */
export interface Entry {
  /** ID or value. */
  id: string;
  /** ID of the entry that it belongs to. */
  parent?: string;
  /** Of an entry that is an object: the values that requests use, by their pointers. */
  fields?: Readonly<Record<string, JsonValue>>;
}

/** Maximum number of entries to keep cursors for. */
const MAX_ENTRIES = 2_000;
/** Maximum number of pages of a list, which may be empty. */
const MAX_PAGES = 1_000;

/** Returns what the placeholders of a stream and its requests stand for. */
export const entryValues = (entry: Entry | undefined): Pick<Values, 'each' | 'parent' | 'entry'> => ({
  ...(entry && { each: entry.id }),
  ...(entry?.parent !== undefined && { parent: entry.parent }),
  ...(entry?.fields && { entry: entry.fields }),
});

/**
 * Returns the entries that a stream is read for: from settings, fixed values, or all pages of lists.
 *
 * @throws PollError
 */
export function readEntries(
  stream: PollStream & { each: PollEach },
  client: PollClient,
  signal: AbortSignal,
): Promise<Entry[]> {
  const names = JSON.stringify(stream).matchAll(/\{\{each(\/[^{}|]+?)(?::(?:lower|upper))?[|}]/g);
  return entriesOf(stream.each, {
    client,
    signal,
    fields: [...new Set([...names].map(([, name = '']) => name))],
  });
}

interface Reading {
  client: PollClient;
  signal: AbortSignal;
  /** Pointers of the values to keep of each entry. */
  fields: readonly string[];
}

async function entriesOf(each: PollEach, reading: Reading): Promise<Entry[]> {
  if ('values' in each) return each.values.map((id) => ({ id }));
  const given = each.setting === undefined ? [] : [valueOf(each.setting, reading.client.values)].flat();
  if (!('path' in each)) return unique(given, each.id ?? '', reading);
  const chosen = unique(given, '', reading);
  if (chosen.length > 0) return chosen;
  if (!each.each) return readList(each, undefined, reading);
  const entries: Entry[] = [];
  for (const { id: parent } of await entriesOf(each.each, { ...reading, fields: [] })) {
    for (const entry of await readList(each, parent, reading)) entries.push({ ...entry, parent });
    if (entries.length > MAX_ENTRIES) throw tooMany(reading.client);
  }
  return entries;
}

/** Returns the entries among values or objects, each ID once. */
function unique(found: readonly unknown[], path: string, { fields }: Reading): Entry[] {
  const entries = new Map<string, Entry>();
  for (const each of found) {
    const value: unknown = getAt(each, path);
    const id = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    if (id !== '' && !entries.has(id))
      entries.set(id, { id, ...(fields.length > 0 && { fields: picked(each, fields) }) });
  }
  return [...entries.values()];
}

function picked(entry: unknown, fields: readonly string[]): NonNullable<Entry['fields']> {
  return Object.fromEntries(
    fields.flatMap((path): [string, JsonValue][] => {
      const value = jsonOf(getAt(entry, path));
      return value === undefined ? [] : [[path, value]];
    }),
  );
}

type PollEntryList = Extract<PollEach, { path: string }>;

async function readList(list: PollEntryList, parent: string | undefined, reading: Reading): Promise<Entry[]> {
  const { client, signal } = reading;
  const entries = new Map<string, Entry>();
  const visited = new Set<string | undefined>();
  const values = { ...client.values, page_size: list.page_size, ...(parent !== undefined && { parent }) };
  let isFiltered = false;
  for (let position: string | undefined; ;) {
    const first = client.request(list, values);
    const response = await client.send(
      pageCall(list.pagination, client, first, position, list.page_size) ?? first,
      signal,
    );
    const found = recordsOf({ path: list.records.path }, response);
    if (!found) throw new PollError(unexpected(client.subject), 'retry');
    const selected = found.filter((entry) => isSelected(list.records, values, entry));
    isFiltered ||= selected.length < found.length;
    for (const entry of unique(selected, list.records.id, reading)) entries.set(entry.id, entry);
    if (entries.size > MAX_ENTRIES || visited.size >= MAX_PAGES) throw tooMany(client);
    visited.add(position);
    const page = { response, count: found.length, last: found.at(-1), pageSize: list.page_size, position };
    position = nextPosition(list.pagination, client, page);
    if (position === undefined || visited.has(position)) break;
  }
  if (isFiltered && entries.size === 0) throw nothingSelected(client, list);
  return [...entries.values()];
}

/** The setting names something that the vendor does not have. */
function nothingSelected({ subject }: PollClient, list: PollEntryList): PollError {
  const at = [list.records.only ?? []].flat().find(({ field }) => field?.startsWith('/'))?.field;
  const message = `${subject.product} has nothing with this name.`;
  return new PollError(failed('invalid_config', message, { at }), 'permanent');
}

function tooMany({ subject }: PollClient): PollError {
  const message = `${subject.product} returned a list of more than ${MAX_ENTRIES} entries.`;
  return new PollError(failed('rejected', message), 'permanent');
}
