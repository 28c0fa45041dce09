/**
 * Responses as GreyNoise documents them for the Community API:
 * https://docs.greynoise.io/reference/getcommunityip (key header, 200, 404, 429), and its messages
 * in https://docs.greynoise.io/docs/using-the-greynoise-community-api
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEgress, type Egress } from '@connector-frame/engine/egress';
import { ManualClock } from '@connector-frame/engine/testing';
import { exampleConfig } from '@connector-frame/catalog';
import { withDefaults } from '@connector-frame/catalog/validate';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { greynoiseCommunityEnrichment } from './index.js';

const KEY = 'canary-greynoise-key';
const never = new AbortController().signal;
const known = {
  ip: '1.2.3.4',
  noise: false,
  riot: true,
  classification: 'benign',
  name: 'Cloudflare',
  link: 'https://viz.greynoise.io/riot/1.2.3.4',
  last_seen: '2020-01-01',
  message: 'Success',
};
let limited = false;

function respond({ url, headers }: Received): Reply {
  if (headers['key'] !== KEY) return { status: 401, body: { message: 'Request is not authenticated', type: 'error' } };
  if (url === '/ping') return { body: { message: 'pong' } };
  if (limited)
    return {
      status: 429,
      body: {
        plan: 'unauthenticated',
        'rate-limit': '10-lookups/day',
        message: 'You have hit your daily rate-limit of 10 requests per day.',
      },
    };
  const ip = url.replace('/v3/community/', '');
  if (ip === known.ip) return { body: known };
  const message = 'IP not observed scanning the internet or contained in RIOT data set.';
  return { status: 404, body: { ip, noise: false, riot: false, message } };
}

let vendor: Vendor;
/** Reaches the vendor on this machine, as the guard would on the internet. */
let egress: Egress;
beforeAll(async () => {
  vendor = await startVendor(respond);
  const guarded = createEgress({ allow: ['127.0.0.0/8'] });
  egress = {
    ...guarded,
    fetch: (url, init) => {
      const { origin, pathname } = new URL(url);
      expect(origin).toBe('https://api.greynoise.io');
      return guarded.fetch(vendor.origin + pathname, init);
    },
  };
});
afterAll(() => vendor.close());

const type = typeOf('enrichment:greynoise-community');

function community(settings: Record<string, unknown> = {}, clock = new ManualClock()) {
  const given = exampleConfig(type.config);
  const config = withDefaults(type.config, { settings: { ...given.settings, ...settings }, secrets: { api_key: KEY } });
  const made = greynoiseCommunityEnrichment.createEnrichment?.(config, { type, egress, clock });
  return { lookUp: async (...keys: string[]) => made?.lookUp(keys, never), example: made?.example };
}

const run = (key: string) =>
  greynoiseCommunityEnrichment.testConnection?.({ settings: {}, secrets: { api_key: key } }, { egress, signal: never });

test('returns what GreyNoise knows of an address', async () => {
  const { lookUp, example } = community();
  const found = await lookUp('1.2.3.4', '::ffff:1.2.3.4', '9.9.9.9');
  const result = { code: 'success', message: 'key found', data: known };
  expect(found?.results.get('1.2.3.4')).toEqual(result);
  expect(found?.results.get('::ffff:1.2.3.4')).toEqual(result);
  expect(found?.results.get('9.9.9.9')).toEqual({
    code: 'key_not_found',
    message: 'key not found',
    data: 'no results found',
  });
  expect(example).toEqual(known);
});

test('sends no address that is not public, and nothing else', async () => {
  const before = vendor.requests.length;
  const found = await community().lookUp(
    '10.0.0.1',
    '127.0.0.1',
    '192.168.1.1',
    '2001:480:10::1',
    'ana@example.com',
    '1.2.3',
    '0x01020304',
  );
  expect(vendor.requests.length).toBe(before);
  expect(new Set([...(found?.results.values() ?? [])].map((result) => 'code' in result && result.code))).toEqual(
    new Set(['key_not_found']),
  );
});

test('at the rate limit, records go on with the response or are rejected; no request is sent for a minute', async () => {
  limited = true;
  try {
    const clock = new ManualClock();
    const { lookUp } = community({}, clock);
    expect((await lookUp('1.2.3.4'))?.results.get('1.2.3.4')).toMatchObject({
      code: 'rate_limited',
      data: 'greynoise rate limit reached',
      cacheMs: 60_000,
    });
    const before = vendor.requests.length;
    clock.advance(59_999);
    await lookUp('1.2.3.5');
    expect(vendor.requests.length).toBe(before);
    clock.advance(1);
    await lookUp('1.2.3.5');
    expect(vendor.requests.length).toBe(before + 1);
    const strict = community({ error_on_rate_limit: true });
    expect((await strict.lookUp('1.2.3.4'))?.results.get('1.2.3.4')).toMatchObject({ rejected: 'rate_limited' });
  } finally {
    limited = false;
  }
});

test('the test tells whether the key is accepted', async () => {
  expect(await run(KEY)).toEqual({ ok: true, summary: 'GreyNoise accepted the API key' });
  expect(await run('wrong')).toMatchObject({
    ok: false,
    reason: 'invalid_credentials',
    issues: [{ path: '/secrets/api_key' }],
  });
});
