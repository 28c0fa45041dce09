import type { Egress, Tester, TestOutcome } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { at, json, text } from '../_shared/read.js';
import type { SlackOptions } from './config.js';

const TOKEN = '/secrets/bot_token';
const WEBHOOK = '/secrets/webhook_url';
const CHANNEL = '/settings/auth_config/bot_token/channel_id';

const slack: Subject = { product: 'Slack' };

/**
 * Creates a tester that checks a bot token and its channel, or a webhook, without posting anything.
 */
export function createSlackTester({
  api = 'https://slack.com',
  hooks = ['https://hooks.slack.com', 'https://hooks.slack-gov.com'],
}: SlackOptions = {}): Tester {
  return createTester(slack, async ({ settings, secrets }, { egress }) => {
    if (at(settings, 'auth_config', 'type') !== 'bot_token') {
      const address = text(secrets, 'webhook_url');
      if (!address) return missing(WEBHOOK, 'Enter the webhook address.');
      if (!URL.canParse(address) || !hooks.includes(new URL(address).origin)) {
        return failed('invalid_config', 'This is not the address of a Slack webhook.', {
          hint: 'It begins with https://hooks.slack.com/services/.',
          at: WEBHOOK,
        });
      }
      if (!new URL(address).pathname.startsWith('/services/')) {
        return failed('unsupported', 'This webhook starts a workflow, so it cannot be tested without starting it.', {
          hint: 'Save without a test, or use an incoming webhook: its path begins with /services/.',
          at: WEBHOOK,
        });
      }
      return testWebhook(egress, address);
    }
    const token = text(secrets, 'bot_token');
    if (!token) return missing(TOKEN, 'Enter a bot token.');
    return testBot(egress, api, token, text(settings, 'auth_config', 'bot_token', 'channel_id'));
  });
}

/**
 * Checks a webhook with a message without text. Slack has no dry run for webhooks, but rejects such
 * a message for exactly that reason, and only after it has found the webhook.
 * https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks
 */
async function testWebhook(egress: Egress, address: string): Promise<TestOutcome> {
  const response = await egress.fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const word = (await response.text()).trim();
  if (
    response.status === 400 &&
    ['no_text', 'invalid_payload', 'missing_text_or_fallback_or_attachments'].includes(word)
  ) {
    return passed('Slack recognized the webhook. Nothing was posted');
  }
  if (response.status === 410 || word === 'channel_is_archived' || word === 'channel_not_found') {
    return failed('not_found', 'The channel of this webhook was archived or deleted.', { at: WEBHOOK });
  }
  if (word === 'action_prohibited') {
    return failed('forbidden', 'A workspace administrator has blocked posts by this webhook.', { at: WEBHOOK });
  }
  if ([400, 401, 403, 404].includes(response.status)) {
    return failed('invalid_credentials', 'Slack does not know this webhook, or it was revoked.', {
      hint: 'Copy its address again, or add a new webhook to the channel.',
      at: WEBHOOK,
    });
  }
  return statusFailure(response.status, slack);
}

/**
 * Checks a bot token and, if given, its channel.
 * https://docs.slack.dev/reference/methods/auth.test
 * https://docs.slack.dev/reference/methods/conversations.info
 */
async function testBot(egress: Egress, api: string, token: string, channel: string | undefined): Promise<TestOutcome> {
  const headers = { authorization: `Bearer ${token}` };
  const signedIn = await egress.fetch(`${api}/api/auth.test`, { method: 'POST', headers });
  if (signedIn.status !== 200) return statusFailure(signedIn.status, { ...slack, credential: TOKEN });
  const body = await json(signedIn);
  if (at(body, 'ok') !== true) return apiFailure(body);
  const scopes = signedIn.headers.get('x-oauth-scopes')?.split(/\s*,\s*/);
  if (scopes && !scopes.includes('chat:write')) {
    return failed('forbidden', 'This bot may not write messages.', {
      hint: 'Add the scope chat:write to the Slack app, and install it again.',
      at: TOKEN,
    });
  }
  if (!channel) return passed('Slack accepted the bot token. Nothing was posted');

  const query = new URLSearchParams({ channel });
  const found = await egress.fetch(`${api}/api/conversations.info?${query}`, { headers });
  if (found.status !== 200) return statusFailure(found.status, slack);
  const info = await json(found);
  const word = at(info, 'error');
  if (word === 'missing_scope') {
    return passed('Slack accepted the bot token. It may not look up the channel, which was not checked');
  }
  if (word === 'channel_not_found') {
    return failed('not_found', 'The bot does not see this channel.', {
      hint: 'Enter the channel ID, as in C0123456789, and invite the bot to the channel.',
      at: CHANNEL,
    });
  }
  if (at(info, 'ok') !== true) return apiFailure(info);
  if (at(info, 'channel', 'is_archived') === true) {
    return failed('not_found', 'This channel is archived.', { at: CHANNEL });
  }
  if (at(info, 'channel', 'is_member') === false && !scopes?.includes('chat:write.public')) {
    return failed('forbidden', 'The bot is not a member of this channel.', { hint: 'Invite it there.', at: CHANNEL });
  }
  return passed('Slack accepted the bot token, and the bot may write to the channel. Nothing was posted');
}

/** Converts an error of the Web API, which responds with status 200, `ok: false` and a code. */
function apiFailure(body: unknown): TestOutcome {
  const word = at(body, 'error');
  if (at(body, 'ok') !== false || typeof word !== 'string') return unexpected(slack);
  if (word === 'ratelimited') return statusFailure(429, slack);
  if (['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'].includes(word))
    return statusFailure(500, slack);
  return failed('invalid_credentials', 'Slack did not accept the bot token.', {
    hint: 'Copy the Bot User OAuth Token again; it begins with xoxb-.',
    at: TOKEN,
  });
}
