import { afterEach, describe, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createSlackTester } from './test-connection.js';
import type { TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';

const TOKEN = 'xoxb-canary-slack-token';
const PATH = '/services/T0CANARY/B0CANARY/canarywebhook';

const bot = (channel?: string): TesterConfig => ({
  settings: { auth_config: { type: 'bot_token', bot_token: channel === undefined ? {} : { channel_id: channel } } },
  secrets: { bot_token: TOKEN },
});
const webhook = (address: string): TesterConfig => ({
  settings: { auth_config: { type: 'webhook' } },
  secrets: { webhook_url: address },
});

function webApi({ method, url, headers }: Received): Reply {
  if (headers.authorization !== `Bearer ${TOKEN}`) return { body: { ok: false, error: 'invalid_auth' } };
  const scopes = { 'x-oauth-scopes': 'chat:write,channels:read' };
  if (method === 'POST' && url === '/api/auth.test') {
    return { headers: scopes, body: { ok: true, url: 'https://acme.slack.com/', team: 'Acme', user: 'logs' } };
  }
  if (url === '/api/conversations.info?channel=C0123456789') {
    return { headers: scopes, body: { ok: true, channel: { id: 'C0123456789', is_archived: false, is_member: true } } };
  }
  return { body: { ok: false, error: 'channel_not_found' } };
}

runTesterContract('slack with a bot token', {
  type: 'output:slack',
  at: (api) => ({ tester: createSlackTester({ api }), config: bot('C0123456789') }),
  respond: webApi,
  summary: 'Slack accepted the bot token, and the bot may write to the channel. Nothing was posted',
});

runTesterContract('slack with a webhook', {
  type: 'output:slack',
  at: (origin) => ({ tester: createSlackTester({ hooks: [origin] }), config: webhook(`${origin}${PATH}`) }),
  respond: ({ method, url, body }) =>
    method === 'POST' && url === PATH && body === '{}'
      ? { status: 400, body: 'no_text' }
      : { status: 404, body: 'no_service' },
  summary: 'The webhook is alive. Nothing was posted',
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function runBot(config: TesterConfig, respond: (request: Received) => Reply = webApi): Promise<TestOutcome> {
  server = await startVendor(respond);
  return runTester(createSlackTester({ api: server.origin }), config);
}
const info =
  (body: object, scopes = 'chat:write') =>
  (request: Received): Reply =>
    request.url === '/api/auth.test' ? { headers: { 'x-oauth-scopes': scopes }, body: { ok: true } } : { body };

async function runWebhook(reply: Reply): Promise<TestOutcome> {
  const { origin } = (server = await startVendor(() => reply));
  return runTester(createSlackTester({ hooks: [origin] }), webhook(`${origin}${PATH}`));
}

describe('a bot token', () => {
  const onChannel = { issues: [{ path: '/settings/auth_config/bot_token/channel_id' }] };

  test('passes without a channel, and posts nothing', async () => {
    expect(await runBot(bot())).toMatchObject({ ok: true });
    expect(server?.requests.map(({ url }) => url)).toEqual(['/api/auth.test']);
  });

  test.each(['invalid_auth', 'account_inactive', 'token_revoked', 'not_authed'])(
    '%s is a wrong token',
    async (error) => {
      expect(await runBot(bot(), () => ({ body: { ok: false, error } }))).toMatchObject({
        reason: 'invalid_credentials',
        issues: [{ path: '/secrets/bot_token' }],
      });
    },
  );

  test('Slack can be busy or broken with a 200', async () => {
    expect(await runBot(bot(), () => ({ body: { ok: false, error: 'ratelimited' } }))).toMatchObject({
      reason: 'rate_limited',
    });
    await server?.close();
    expect(await runBot(bot(), () => ({ body: { ok: false, error: 'internal_error' } }))).toMatchObject({
      reason: 'upstream_error',
    });
  });

  test('without chat:write it may not write', async () => {
    expect(await runBot(bot(), info({}, 'channels:read'))).toMatchObject({
      reason: 'forbidden',
      issues: [{ path: '/secrets/bot_token' }],
    });
  });

  test.each([
    [info({ ok: false, error: 'channel_not_found' }), { reason: 'not_found', ...onChannel }],
    [info({ ok: true, channel: { is_archived: true } }), { reason: 'not_found', ...onChannel }],
    [info({ ok: true, channel: { is_member: false } }), { reason: 'forbidden', ...onChannel }],
    [info({ ok: true, channel: { is_member: false } }, 'chat:write, chat:write.public'), { ok: true }],
    [info({ ok: false, error: 'missing_scope' }), { ok: true }],
    [info({ ok: false, error: 'token_revoked' }), { reason: 'invalid_credentials' }],
  ])('channel %#', async (respond, outcome) => {
    expect(await runBot(bot('C1'), respond)).toMatchObject(outcome);
  });
});

describe('a webhook', () => {
  test.each([
    [{ status: 400, body: 'no_text' }, { ok: true }],
    [{ status: 400, body: 'invalid_payload' }, { ok: true }],
    [{ status: 404, body: 'no_service' }, { reason: 'invalid_credentials' }],
    [{ status: 403, body: 'invalid_token' }, { reason: 'invalid_credentials' }],
    [{ status: 404, body: 'no_team' }, { reason: 'invalid_credentials' }],
    [{ status: 403, body: 'action_prohibited' }, { reason: 'forbidden' }],
    [{ status: 404, body: 'channel_not_found' }, { reason: 'not_found' }],
    [{ status: 410, body: 'channel_is_archived' }, { reason: 'not_found' }],
    [{ status: 200, body: 'ok' }, { reason: 'unexpected_answer' }],
  ] satisfies [Reply, object][])('%j is %j', async (reply, outcome) => {
    expect(await runWebhook(reply)).toMatchObject(outcome);
  });

  test.each([
    'https://evil.example/services/T/B/x',
    'https://hooks.slack.com.evil.example/',
    'http://hooks.slack.com/services/',
    'nonsense',
  ])('%s is not one, and is never called', async (address) => {
    expect(await runTester(createSlackTester(), webhook(address))).toMatchObject({
      reason: 'invalid_config',
      issues: [{ path: '/secrets/webhook_url' }],
    });
  });
});

test('a workflow is not started', async () => {
  server = await startVendor(() => ({ body: { ok: true } }));
  const tester = createSlackTester({ hooks: [server.origin] });
  for (const path of ['/triggers/T0/1/x', '/workflows/T0/A0/1/x', '/services/../triggers/T0/1/x']) {
    expect(await runTester(tester, webhook(`${server.origin}${path}`))).toMatchObject({ reason: 'unsupported' });
  }
  expect(server.connections()).toBe(0);
});

test('what is absent is asked for', async () => {
  const settings = { auth_config: { type: 'webhook' } };
  expect(await runTester(createSlackTester(), { settings, secrets: {} })).toMatchObject({
    issues: [{ path: '/secrets/webhook_url' }],
  });
  expect(await runTester(createSlackTester(), { ...bot(), secrets: {} })).toMatchObject({
    issues: [{ path: '/secrets/bot_token' }],
  });
});
