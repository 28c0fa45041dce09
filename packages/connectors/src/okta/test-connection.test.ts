import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFakeOkta, type FakeOkta } from '../../../../test/support/fake-okta.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { createEgress } from '@connector-frame/engine/egress';
import { testOktaSystemLog } from './test-connection.js';
import type { TestOutcome } from '@connector-frame/engine/connector-api';

const TOKEN = '00canary-okta-token';

runTesterContract('okta-systemlog', {
  type: 'input:okta-systemlog',
  at: (origin) => ({
    tester: testOktaSystemLog,
    config: { settings: { org_url: origin }, secrets: { api_key: TOKEN } },
  }),
  respond: ({ url, headers }) =>
    url === '/api/v1/logs?limit=1' && headers.authorization === `SSWS ${TOKEN}`
      ? { body: [{ uuid: '1', eventType: 'user.session.start' }] }
      : { status: 401, body: { errorCode: 'E0000011' } },
  summary: 'Read 1 event',
});

let okta: FakeOkta;
beforeAll(async () => {
  okta = await startFakeOkta({ token: TOKEN });
});
afterAll(() => okta.close());

function run(
  settings: Record<string, unknown>,
  secrets: Record<string, unknown> = { api_key: TOKEN },
): Promise<TestOutcome> {
  const egress = createEgress({ allow: ['127.0.0.0/8'], ca: okta.ca });
  return testOktaSystemLog({ settings, secrets }, { egress, signal: new AbortController().signal });
}

test('reads an event of an organization, whatever follows its address', async () => {
  expect(await run({ org_url: okta.url })).toEqual({ ok: true, summary: 'Read 1 event' });
  expect(await run({ org_url: ` ${okta.url}/admin/dashboard ` })).toEqual({ ok: true, summary: 'Read 1 event' });
  expect(okta.hits.at(-1)).toMatchObject({ method: 'GET', url: '/api/v1/logs?limit=1', status: 200 });
});

test('a wrong token is told on its field', async () => {
  expect(await run({ org_url: okta.url }, { api_key: 'wrong' })).toMatchObject({
    ok: false,
    reason: 'invalid_credentials',
    message: 'Okta did not accept the API token.',
    issues: [{ path: '/secrets/api_key' }],
  });
});

test('a token without the right, a limit, and an unknown organization', async () => {
  okta.answer({ status: 403, body: { errorCode: 'E0000006' } });
  expect(await run({ org_url: okta.url })).toMatchObject({
    reason: 'forbidden',
    issues: [{ path: '/secrets/api_key' }],
  });
  okta.answer({ status: 429, body: { errorCode: 'E0000047' } });
  expect(await run({ org_url: okta.url })).toMatchObject({ reason: 'rate_limited' });
  okta.answer({ status: 404, body: { errorCode: 'E0000007' } });
  expect(await run({ org_url: okta.url })).toMatchObject({
    reason: 'not_found',
    issues: [{ path: '/settings/org_url' }],
  });
  okta.answer({ status: 200, body: [] });
  expect(await run({ org_url: okta.url })).toEqual({ ok: true, summary: 'Read 0 events' });
});

test.each(['http://127.0.0.1', 'acme.okta.com', '', 'ftp://acme.okta.com'])(
  '"%s" is no address of Okta',
  async (org_url) => {
    expect(await run({ org_url })).toMatchObject({ reason: 'invalid_config', issues: [{ path: '/settings/org_url' }] });
  },
);

test('a token that no header can carry is told on its field, not quoted', async () => {
  const outcome = await run({ org_url: okta.url }, { api_key: 'canary\nbreak' });
  expect(outcome).toMatchObject({ reason: 'invalid_config', issues: [{ path: '/secrets/api_key' }] });
  expect(JSON.stringify(outcome)).not.toContain('canary');
});

test('an absent token is asked for', async () => {
  expect(await run({ org_url: okta.url }, {})).toMatchObject({
    issues: [{ path: '/secrets/api_key', code: 'required' }],
  });
});
