import type { ConnectorConfig, PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { PollClient } from './client.js';
import { nextPlace, pageUrl } from './pagination.js';
import { PollError } from './poll-error.js';
import { recordsIn } from './records.js';

/** Maximum number of ids to keep cursors for. */
const MAX_ENTRIES = 2_000;

/**
 * Reads all pages of the list that a stream is read for, and returns its ids.
 *
 * @throws PollError
 */
export async function listEach(
  list: NonNullable<PollStream['each']>,
  client: PollClient,
  config: ConnectorConfig,
  signal: AbortSignal,
): Promise<string[]> {
  const ids = new Set<string>();
  const visited = new Set<string | undefined>();
  for (let place: string | undefined; ;) {
    const first = client.url(list, { settings: config.settings, page_size: list.page_size });
    const answer = await client.get(pageUrl(list.pagination, client, first, place) ?? first, signal);
    const found = recordsIn({ path: list.records.path }, answer.body);
    if (!found) throw new PollError(unexpected(client.subject), 'retry');
    for (const entry of found) {
      const id: unknown = getAt(entry, list.records.id);
      if (typeof id === 'string' && id !== '') ids.add(id);
      else if (typeof id === 'number') ids.add(String(id));
    }
    if (ids.size > MAX_ENTRIES) {
      const message = `${client.subject.product} lists more than ${MAX_ENTRIES} places to read from with these credentials.`;
      throw new PollError(failed('rejected', message), 'permanent');
    }
    visited.add(place);
    place = nextPlace(list.pagination, client, { answer, count: found.length, pageSize: list.page_size, place });
    if (place === undefined || visited.has(place)) return [...ids];
  }
}
