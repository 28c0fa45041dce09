import { ConnectorError } from '@connector-frame/engine/connector-api';
import { statusFailure, throttled, unexpected } from '../_shared/output/failures.js';
import type { PartResult } from '../_shared/output/split-batch.js';
import type { HttpResponse } from '../_shared/output/send.js';
import { at } from '../_shared/read.js';

export const SLACK = 'Slack';

/**
 * Errors about the message itself. https://docs.slack.dev/reference/methods/chat.postMessage#errors
 */
const MESSAGE = new Set([
  'no_text',
  'msg_too_long',
  'invalid_blocks',
  'invalid_payload',
  'too_many_attachments',
  'msg_blocks_too_long',
]);
/** Errors about the credentials. */
const CREDENTIALS = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'invalid_token',
  'no_service',
  'no_service_id',
  'no_team',
  'team_disabled',
]);
/** Errors about the channel, or the permission to post there. */
const CHANNEL = new Set([
  'channel_not_found',
  'not_in_channel',
  'is_archived',
  'channel_is_archived',
  'restricted_action',
  'action_prohibited',
  'posting_to_general_channel_denied',
  'missing_scope',
]);
const BUSY = new Set(['ratelimited', 'rate_limited', 'message_limit_exceeded']);
const BROKEN = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'rollup_error']);

/**
 * Converts a response to the outcome of a message. Webhooks and the Web API have separate error
 * codes.
 * @throws ConnectorError
 */
export function outcomeOf(response: HttpResponse, now: number): PartResult {
  const { ok, word } = read(response);
  if (response.status === 200 && ok) return {};
  if (MESSAGE.has(word)) return { partRejection: 'Slack does not accept the message of this record.' };
  throw failureOf(response, word, now);
}

/**
 * Checks the response to a call that posts no message.
 * @throws ConnectorError if it failed
 */
export function expectOk(response: HttpResponse, now: number): void {
  const { ok, word } = read(response);
  if (response.status !== 200 || !ok) throw failureOf(response, word, now);
}

function failureOf(response: HttpResponse, word: string, now: number): ConnectorError {
  if (response.status === 429 || BUSY.has(word)) return throttled(SLACK, statusFailure(response, SLACK, now).afterMs);
  if (CREDENTIALS.has(word))
    return new ConnectorError('invalid_credentials', 'Slack did not accept the bot token or webhook.', 'permanent');
  if (CHANNEL.has(word))
    return new ConnectorError('forbidden', 'The bot can’t post to this channel. Invite it there.', 'permanent');
  if (BROKEN.has(word)) return new ConnectorError('upstream_error', 'Slack returned an internal error.');
  if (response.status !== 200) return statusFailure(response, SLACK, now);
  return word === '' ? unexpected(SLACK) : new ConnectorError('rejected', 'Slack refused the message.', 'permanent');
}

/**
 * Parses a response. A webhook returns `ok` or an error code as text, the Web API `{ ok, error }`.
 */
function read({ text }: HttpResponse): { ok: boolean; word: string } {
  const bare = text.trim();
  if (/^\w{1,60}$/.test(bare)) return { ok: bare === 'ok', word: bare };
  try {
    const body: unknown = JSON.parse(bare);
    const word = at(body, 'error');
    return { ok: at(body, 'ok') === true, word: typeof word === 'string' ? word : '' };
  } catch {
    return { ok: false, word: '' };
  }
}
