import type { ConnectorConfig, PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { PollClient } from './client.js';
import { nextPosition, pageCall } from './pagination.js';
import { PollError } from './poll-error.js';
import { recordsOf } from './records.js';

/** Maximum number of ids to keep cursors for. */
const MAX_ENTRIES = 2_000;

/**
 * Reads all pages of the list that a stream is read for, and returns its ids.
 *
 * @throws PollError
 */
export async function listEntries(
  list: NonNullable<PollStream['each']>,
  client: PollClient,
  config: ConnectorConfig,
  signal: AbortSignal,
): Promise<string[]> {
  const ids = new Set<string>();
  const visited = new Set<string | undefined>();
  for (let position: string | undefined; ;) {
    const first = client.request(list, { settings: config.settings, page_size: list.page_size });
    const response = await client.send(pageCall(list.pagination, client, first, position) ?? first, signal);
    const found = recordsOf({ path: list.records.path }, response);
    if (!found) throw new PollError(unexpected(client.subject), 'retry');
    for (const entry of found) {
      const id: unknown = getAt(entry, list.records.id);
      if (typeof id === 'string' && id !== '') ids.add(id);
      else if (typeof id === 'number') ids.add(String(id));
    }
    if (ids.size > MAX_ENTRIES) {
      const message = `${client.subject.product} returned a list of more than ${MAX_ENTRIES} entries.`;
      throw new PollError(failed('rejected', message), 'permanent');
    }
    visited.add(position);
    position = nextPosition(list.pagination, client, {
      response,
      count: found.length,
      pageSize: list.page_size,
      position,
    });
    if (position === undefined || visited.has(position)) return [...ids];
  }
}
