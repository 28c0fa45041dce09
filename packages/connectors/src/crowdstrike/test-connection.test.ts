import { afterEach, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createCrowdstrikeEventStreamTester } from './test-connection.js';
import type { TestOutcome } from '@connector-frame/engine/connector-api';

const secrets = {
  client_id: 'canaryclientid000000000000000000',
  client_secret: 'canarysecret0000000000000000000000000000',
};
const settings = { app_name: 'acmelogs', cloud: 'us-1' };

function falcon({ method, url, headers, body }: Received): Reply {
  if (method === 'POST' && url === '/oauth2/token') {
    const form = new URLSearchParams(body);
    const known = form.get('client_id') === secrets.client_id && form.get('client_secret') === secrets.client_secret;
    if (!known)
      return { status: 403, body: { errors: [{ code: 403, message: 'access denied, authorization failed' }] } };
    return { status: 201, body: { access_token: 'canary-access-token', expires_in: 1799, token_type: 'bearer' } };
  }
  if (headers.authorization !== 'Bearer canary-access-token') return { status: 401, body: { errors: [] } };
  return url === '/sensors/entities/datafeed/v2?appId=acmelogs&format=json'
    ? { body: { resources: [{ dataFeedURL: 'https://firehose.crowdstrike.com/sensors/entities/datafeed/v1/0' }] } }
    : { status: 404 };
}

runTesterContract('crowdstrike-event-stream', {
  type: 'input:crowdstrike-event-stream',
  at: (origin) => ({
    tester: createCrowdstrikeEventStreamTester(new Map([['us-1', origin]])),
    config: { settings, secrets },
  }),
  respond: falcon,
  summary: 'Found 1 event stream',
});

const servers: Vendor[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function cloud(respond: (request: Received) => Reply): Promise<Vendor> {
  const server = await startVendor(respond);
  servers.push(server);
  return server;
}

function run(clouds: Record<string, Vendor>, changes: Record<string, unknown> = {}): Promise<TestOutcome> {
  const bases = new Map(Object.entries(clouds).map(([name, { origin }]) => [name, origin]));
  return runTester(createCrowdstrikeEventStreamTester(bases), { settings: { ...settings, ...changes }, secrets });
}

const stranger = (): Reply => ({ status: 403, body: { errors: [] } });

test('a wrong client is told on both of its fields', async () => {
  expect(await run({ 'us-1': await cloud(stranger) })).toMatchObject({
    reason: 'invalid_credentials',
    issues: [{ path: '/secrets/client_id' }, { path: '/secrets/client_secret' }],
  });
});

test('a client of another cloud than the one named', async () => {
  const other = await cloud(falcon);
  const named = await cloud(() => ({ status: 308, headers: { location: `${other.origin}/oauth2/token` } }));
  expect(await run({ 'us-1': named, 'us-2': other })).toMatchObject({
    reason: 'redirected',
    issues: [{ path: '/settings/cloud' }],
  });
  expect(other.requests).toEqual([]);
});

test.each(['autodiscover', undefined])('cloud %s is found, the separate one never asked', async (name) => {
  const home = await cloud(falcon);
  const first = await cloud(() => ({ status: 308, headers: { location: `${home.origin}/oauth2/token` } }));
  const second = await cloud(stranger);
  const government = await cloud(falcon);
  const clouds = { 'us-gov-1': government, 'us-1': first, 'us-2': second, 'eu-1': home };
  expect(await run(clouds, { cloud: name })).toMatchObject({ ok: true });
  expect([first, second, government].map(({ requests }) => requests.length)).toEqual([1, 1, 0]);
});

test('the stream is asked for where the token is at home', async () => {
  const home = await cloud(falcon);
  const first = await cloud((request) => ({ ...falcon(request), headers: { 'x-cs-region': 'eu-1' } }));
  expect(await run({ 'us-1': first, 'eu-1': home })).toMatchObject({ ok: true });
  expect(home.requests.map(({ url }) => url)).toEqual(['/sensors/entities/datafeed/v2?appId=acmelogs&format=json']);
});

test('no scope, no stream, and a member of Flight Control', async () => {
  const feed = (reply: Reply) => (request: Received) => (request.method === 'POST' ? falcon(request) : reply);
  expect(await run({ 'us-1': await cloud(feed({ status: 403 })) })).toMatchObject({
    reason: 'forbidden',
    issues: [{ path: '/secrets/client_id' }],
  });
  expect(await run({ 'us-1': await cloud(feed({ body: { resources: [] } })) })).toMatchObject({ reason: 'not_found' });
  const parent = await cloud(falcon);
  await run({ 'us-1': parent }, { member_cid: '0123456789ABCDEF0123456789ABCDEF' });
  expect(new URLSearchParams(parent.requests[0]?.body).get('member_cid')).toBe('0123456789ABCDEF0123456789ABCDEF');
});
