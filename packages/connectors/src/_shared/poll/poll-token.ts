import type { PollCursor, PollStream } from '@connector-frame/catalog/types';
import { unexpected } from '../connection-test/failures.js';
import { withParameter, type PollCall } from './call.js';
import type { PollClient, PollResponse } from './client.js';
import { resolve, textAt } from './pagination.js';
import { PollError } from './poll-error.js';
import type { StreamState } from './state.js';
import type { Values } from './template.js';

type ContinueCursor = Extract<PollCursor, { kind: 'continue' }>;

/**
 * Returns the call with the token of the last poll: as a parameter, or, on the first page, as its
 * URL.
 *
 * @returns `undefined` if the token is a URL of another origin
 */
export function withToken(
  cursor: PollCursor,
  client: PollClient,
  call: PollCall,
  token: string | undefined,
  isFirstPage: boolean,
): PollCall | undefined {
  if (cursor.kind !== 'continue' || cursor.token === undefined || token === undefined) return call;
  if (cursor.token.parameter !== undefined) return withParameter(call, cursor.token.parameter, token);
  if (!isFirstPage) return call;
  const url = client.ownUrl(token, call.url);
  return url && { ...call, url };
}

/** Returns the token that the last page returns for the next poll. */
export function handedOut(cursor: ContinueCursor, client: PollClient, response: PollResponse): string | undefined {
  if (!cursor.token) return undefined;
  const text = textAt(response.body, cursor.token.path);
  if (cursor.token.parameter !== undefined) return text || undefined;
  return resolve(client, response, text)?.href;
}

/**
 * Requests the first token of a stream.
 *
 * @returns `undefined` if the stream has one, or begins without
 * @throws PollError
 */
export async function firstToken(
  { cursor }: PollStream,
  client: PollClient,
  { token, place }: StreamState,
  values: Values,
  signal: AbortSignal,
): Promise<Pick<StreamState, 'token' | 'place'> | undefined> {
  if (cursor.kind !== 'continue' || !cursor.first || (token ?? place) !== undefined) return undefined;
  const response = await client.send(client.request(cursor.first, values), signal);
  const first = textAt(response.body, cursor.first.token);
  if (first === '') throw new PollError(unexpected(client.subject), 'retry');
  return cursor.token ? { token: first } : { place: first };
}
