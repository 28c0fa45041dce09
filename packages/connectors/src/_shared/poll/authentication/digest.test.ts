import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { data, open, records } from '../../../../../../test/support/poll-acme.js';
import { digestHeader, parseChallenge } from './digest.js';

/** The challenge of RFC 7616, section 3.9.1: one header for each algorithm, joined as `fetch` does. */
const challenge = ['SHA-256', 'MD5']
  .map(
    (algorithm) =>
      `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
  )
  .join(', ');
const mufasa = { user: 'Mufasa', password: 'Circle of Life' };
const request = { method: 'GET', uri: '/dir/index.html' };
const CNONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
const responseIn = (header: string): string | undefined => /response="([^"]*)"/.exec(header)?.[1];

test('computes the responses of RFC 7616, and prefers SHA-256', () => {
  const sha256 = parseChallenge(challenge);
  expect(sha256).toMatchObject({ algorithm: 'SHA-256', qop: 'auth', stale: false });
  if (!sha256) throw new Error('no challenge');
  expect(responseIn(digestHeader(sha256, mufasa, request, 1, CNONCE))).toBe(
    '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  );
  const header = digestHeader({ ...sha256, algorithm: 'MD5' }, mufasa, request, 1, CNONCE);
  expect(responseIn(header)).toBe('8ca523f5e9506fed4657c9700eebdbec');
  expect(header).toContain('nc=00000001, qop=auth');
});

test('computes the response of RFC 2617, section 3.5', () => {
  const parsed = parseChallenge(
    'Basic realm="x", Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
  );
  if (!parsed) throw new Error('no challenge');
  const header = digestHeader(parsed, { user: 'Mufasa', password: 'Circle Of Life' }, request, 1, '0a4f113b');
  expect(responseIn(header)).toBe('6629fae49393a05397450978507c4ef1');
});

test.each([
  'Basic realm="x"',
  'Digest realm="x"',
  'Digest nonce="x", algorithm=SHA-512-256',
  'Digest nonce="x", qop="other"',
  '',
])('ignores %s', (header) => expect(parseChallenge(header)).toBeUndefined());

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** Checks responses as RFC 7616 describes, without the code under test. */
function digestServer(password: string) {
  let nonce = 'first';
  const counts: string[] = [];
  return {
    counts,
    expire: () => void (nonce = 'second'),
    check(header: string | undefined, uri: string) {
      const field = (name: string): string => new RegExp(`[ ,]${name}="?([^",]*)`).exec(header ?? '')?.[1] ?? '';
      counts.push(field('nc'));
      const parts = [md5(`ada:acme:${password}`), nonce, field('nc'), field('cnonce'), 'auth', md5(`GET:${uri}`)];
      if (field('uri') === uri && field('response') === md5(parts.join(':'))) return data(...records(0, 1));
      const stale = header === undefined || field('nonce') === nonce ? '' : ', stale=true';
      return {
        status: 401,
        headers: { 'www-authenticate': `Digest realm="acme", nonce="${nonce}", qop="auth"${stale}` },
      };
    },
  };
}
const authentication = { kind: 'digest', user: 'ada', password: '/secrets/token' } as const;

test('answers the challenge, counts uses of the nonce, and follows a new one', async () => {
  const server = digestServer('canary-token');
  const { driver } = await open({ authentication }, (_query, { url, headers }) =>
    server.check(headers.authorization, url),
  );
  await driver.poll();
  await driver.poll();
  server.expire();
  await driver.poll();
  expect(server.counts).toEqual(['', '00000001', '00000002', '00000003', '00000001']);
});

test('sends a wrong password three times at most, until a person asks', async () => {
  const server = digestServer('another');
  const { driver, clock, requests } = await open({ authentication }, (_query, { url, headers }) =>
    server.check(headers.authorization, url),
  );
  const sent = () => requests.filter(({ headers }) => headers.authorization !== undefined).length;
  for (let attempt = 0; attempt < 5; attempt += 1)
    expect(await driver.fails()).toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  expect(sent()).toBe(2);
  clock.ms += 3_600_000;
  for (let attempt = 0; attempt < 5; attempt += 1) await driver.fails();
  clock.ms += 30 * 24 * 3_600_000;
  const { message } = await driver.fails();
  expect(message).toMatch(
    /^Acme did not accept the credentials 3 times. They are not sent again until you correct them/,
  );
  expect(sent()).toBe(3);
  await driver.fails(true);
  expect(sent()).toBe(4);
});
