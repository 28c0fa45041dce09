import type { Egress } from '@connector-frame/engine/connector-api';
import { createHmac } from 'node:crypto';
import type { PollSignature } from '@connector-frame/catalog/types';
import { expect, test } from 'vitest';
import { failed } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';
import { awsAuthentication } from './aws-signature.js';
import { signOAuth1 } from './oauth1.js';
import { signRequest } from './signature.js';
import type { Moment } from './steps.js';

const noEgress: Egress = {
  fetch: () => Promise.reject(new Error('none')),
  connect: () => Promise.reject(new Error('none')),
};

interface Sent {
  method?: string;
  url: string;
  body?: string;
  headers?: Record<string, string>;
}

const signed = (
  method: PollSignature,
  { method: verb = 'GET', url, body, headers = {} }: Sent,
  secrets: Record<string, string>,
  settings: Record<string, unknown>,
  moment: Moment,
) => {
  const request = {
    method: verb,
    url: new URL(url),
    headers: new Headers(headers),
    ...(body !== undefined && { body }),
  };
  signRequest(method, request, { settings, secrets }, moment);
  return request;
};

/** https://techdocs.akamai.com/developer/docs/edgegrid */
const edgegrid: PollSignature = {
  kind: 'signature',
  steps: [
    {
      name: 'unsigned',
      kind: 'text',
      of: 'EG1-HMAC-SHA256 client_token={{/secrets/client_token}};access_token={{/secrets/access_token}};timestamp={{timestamp:%Y%m%dT%H:%M:%S%z}};nonce={{nonce}};',
    },
    {
      name: 'content',
      kind: 'hash',
      of: '{{body}}',
      algorithm: 'sha256',
      encoding: 'base64',
      first_bytes: 2048,
      empty: true,
    },
    {
      name: 'key',
      kind: 'hmac',
      of: '{{timestamp:%Y%m%dT%H:%M:%S%z}}',
      algorithm: 'sha256',
      key: '/secrets/client_secret',
      encoding: 'base64',
    },
    {
      name: 'signature',
      kind: 'hmac',
      of: '{{method}}\t{{scheme}}\t{{host}}\t{{target}}\t\t{{content}}\t{{unsigned}}',
      algorithm: 'sha256',
      key: '{{key}}',
      encoding: 'base64',
    },
  ],
  headers: { Authorization: '{{unsigned}}signature={{signature}}' },
};

/** The test data of Akamai's SDKs: https://github.com/akamai/AkamaiOPEN-edgegrid-node, test/test_data.json */
test.each([
  ['simple GET', { url: '/' }, 'tL+y4hxyHxgWVD30X3pWnGKHcPzmrIF+LThiAOhMxYU='],
  ['GET with a query', { url: '/testapi/v1/t1?p1=1&p2=2' }, 'hKDH1UlnQySSHjvIcZpDMbQHihTQ0XyVAKZaApabdeA='],
  [
    'POST inside the limit',
    { method: 'POST', url: '/testapi/v1/t3', body: 'datadatadatadatadatadatadatadata' },
    'hXm4iCxtpN22m4cbZb4lVLW5rhX8Ca82vCFqXzSTPe4=',
  ],
  [
    'POST beyond the limit',
    { method: 'POST', url: '/testapi/v1/t3', body: 'd'.repeat(2_049) },
    '6Q6PiTipLae6n4GsSIDTCJ54bEbHUBp+4MUXrbQCBoY=',
  ],
  [
    'POST without a body',
    { method: 'POST', url: '/testapi/v1/t6', body: '' },
    '1gEDxeQGD5GovIkJJGcBaKnZ+VaPtrc4qBUHixjsPCQ=',
  ],
])('Akamai EdgeGrid: %s', (_name, { url, ...sent }, signature) => {
  const secrets = {
    client_token: 'akab-client-token-xxx-xxxxxxxxxxxxxxxx',
    access_token: 'akab-access-token-xxx-xxxxxxxxxxxxxxxx',
    client_secret: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx=',
  };
  const moment = { at: Date.UTC(2014, 2, 21, 19, 34, 21), nonce: 'nonce-xx-xxxx-xxxx-xxxx-xxxxxxxxxxxx' };
  const base = 'https://akaa-baseurl-xxxxxxxxxxx-xxxxxxxxxxxxx.luna.akamaiapis.net';
  const { headers } = signed(edgegrid, { ...sent, url: base + url }, secrets, {}, moment);
  expect(headers.get('authorization')).toBe(
    `EG1-HMAC-SHA256 client_token=${secrets.client_token};access_token=${secrets.access_token};timestamp=20140321T19:34:21+0000;nonce=${moment.nonce};signature=${signature}`,
  );
});

/**
 * Test values of the documentation, as in the tests of Oracle's SDK:
 * https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm
 */
test('Oracle Cloud Infrastructure', () => {
  const oci: PollSignature = {
    kind: 'signature',
    signed: { headers: { date: '{{timestamp:http}}' } },
    steps: [
      {
        name: 'signature',
        kind: 'rsa',
        of: 'date: {{header.date}}\n(request-target): {{method:lower}} {{target}}\nhost: {{host}}',
        algorithm: 'sha256',
        key: '/secrets/key',
        encoding: 'base64',
      },
    ],
    headers: {
      Authorization:
        'Signature version="1",headers="date (request-target) host",keyId="{{/settings/tenancy}}/{{/settings/user}}",algorithm="rsa-sha256",signature="{{signature}}"',
    },
  };
  const key = `-----BEGIN RSA PRIVATE KEY-----
MIICXgIBAAKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QF
NUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EOcpfdUE9Hf3m/hs+F
UR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1fIekaxsyQIDAQAB
AoGBAJR8ZkCUvx5kzv+utdl7T5MnordT1TvoXXJGXK7ZZ+UuvMNUCdN2QPc4sBiA
QWvLw1cSKt5DsKZ8UETpYPy8pPYnnDEz2dDYiaew9+xEpubyeW2oH4Zx71wqBtOK
kqwrXa/pzdpiucRRjk6vE6YY7EBBs/g7uanVpGibOVAEsqH1AkEA7DkjVH28WDUg
f1nqvfn2Kj6CT7nIcE3jGJsZZ7zlZmBmHFDONMLUrXR/Zm3pR5m0tCmBqa5RK95u
412jt1dPIwJBANJT3v8pnkth48bQo/fKel6uEYyboRtA5/uHuHkZ6FQF7OUkGogc
mSJluOdc5t6hI1VsLn0QZEjQZMEOWr+wKSMCQQCC4kXJEsHAve77oP6HtG/IiEn7
kpyUXRNvFsDE0czpJJBvL/aRFUJxuRK91jhjC68sA7NsKMGg5OXb5I5Jj36xAkEA
gIT7aFOYBFwGgQAQkWNKLvySgKbAZRTeLBacpHMuQdl1DfdntvAyqpAZ0lY0RKmW
G6aFKaqQfOXKCyWoUiVknQJAXrlgySFci/2ueKlIE1QqIiLSZ8V8OlpFLRnb1pzI
7U1yQXnTAEFYM560yJlzUpOb1V4cScGd365tiSMvxLOvTA==
-----END RSA PRIVATE KEY-----`;
  const url =
    'https://iaas.us-phoenix-1.oraclecloud.com/20160918/instances?availabilityDomain=Pjwf%3A%20PHX-AD-1&compartmentId=ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa&displayName=TeamXInstances&volumeId=ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q';
  // The example has a weekday that the date does not have, so the time is given as a setting.
  const example = { ...oci, signed: { headers: { date: '{{/settings/date}}' } } };
  const settings = {
    date: 'Thu, 05 Jan 2014 21:31:40 GMT',
    tenancy: 'ocid1.tenancy.oc1..a',
    user: 'ocid1.user.oc1..b',
  };
  const { headers } = signed(example, { url }, { key }, settings, { at: 0, nonce: '' });
  expect(headers.get('authorization')).toContain(
    'signature="GBas7grhyrhSKHP6AVIj/h5/Vp8bd/peM79H9Wv8kjoaCivujVXlpbKLjMPeDUhxkFIWtTtLBj3sUzaFj34XE6YZAHc9r2DmE4pMwOAy/kiITcZxa1oHPOeRheC0jP2dqbTll8fmTZVwKZOKHYPtrLJIJQHJjNvxFWeHQjMaR7M="',
  );
  expect(signed(oci, { url }, { key }, settings, { at: 0, nonce: '' }).headers.get('date')).toBe(
    'Thu, 01 Jan 1970 00:00:00 GMT',
  );
  const spoiled = () => signed(oci, { url }, { key: 'canary' }, settings, { at: 0, nonce: '' });
  expect(spoiled).toThrow('This is not an unencrypted private key in PEM format.');
});

/**
 * The documented example of RPC signatures:
 * https://www.alibabacloud.com/help/en/sdk/product-overview/rpc-mechanism
 */
test('Alibaba Cloud', () => {
  const method: PollSignature = {
    kind: 'signature',
    signed: {
      query: {
        AccessKeyId: '{{/settings/id}}',
        SignatureMethod: 'HMAC-SHA1',
        SignatureVersion: '1.0',
        SignatureNonce: '{{nonce}}',
        Timestamp: '{{timestamp:rfc3339_seconds}}',
      },
    },
    steps: [
      {
        name: 'signature',
        kind: 'hmac',
        of: '{{method}}&%2F&{{sorted_query:encoded}}',
        algorithm: 'sha1',
        key: '{{/secrets/key}}&',
        encoding: 'base64',
      },
    ],
    query: { Signature: '{{signature}}' },
  };
  const { url } = signed(
    method,
    { url: 'https://ecs.aliyuncs.com/?Version=2014-05-26&Format=XML&Action=DescribeRegions' },
    { key: 'testsecret' },
    { id: 'testid' },
    { at: Date.UTC(2016, 1, 23, 12, 46, 24), nonce: '3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf' },
  );
  expect(url.searchParams.get('Signature')).toBe('OLeaidS1JvxuMvnyHOwuJ+uX5qY=');
});

/**
 * Documented for advanced API keys: the SHA-256 of key, nonce and time.
 * https://docs-cortex.paloaltonetworks.com/r/Cortex-XDR-REST-API/Get-Started-with-Cortex-XDR-APIs
 */
test('Cortex XDR', () => {
  const method: PollSignature = {
    kind: 'signature',
    steps: [
      {
        name: 'digest',
        kind: 'hash',
        of: '{{/secrets/key}}{{nonce}}{{timestamp:milliseconds}}',
        algorithm: 'sha256',
        encoding: 'hex',
      },
    ],
    headers: {
      'x-xdr-auth-id': '{{/settings/id}}',
      'x-xdr-nonce': '{{nonce}}',
      'x-xdr-timestamp': '{{timestamp:milliseconds}}',
      Authorization: '{{digest}}',
    },
  };
  const moment = { at: 1_600_000_000_000, nonce: 'n'.repeat(64) };
  const { headers } = signed(
    method,
    { url: 'https://api-x.xdr.us.paloaltonetworks.com/' },
    { key: 'k' },
    { id: 7 },
    moment,
  );
  expect(Object.fromEntries(headers)).toEqual({
    'x-xdr-auth-id': '7',
    'x-xdr-nonce': moment.nonce,
    'x-xdr-timestamp': '1600000000000',
    // printf 'k%s1600000000000' "$(printf 'n%.0s' {1..64})" | sha256sum
    authorization: '67a30c8e23221656b3e3ba93816d733fbc583156b890124eac19a3f3d389a775',
  });
});

const mac = (secret: Buffer, text: Buffer | string): Buffer => createHmac('sha256', secret).update(text).digest();

/**
 * The calculation that the documentation describes, with keys and nonce as bytes:
 * https://docs.veracode.com/r/c_hmac_signing_example
 */
test('Veracode', () => {
  const hmac = { kind: 'hmac', algorithm: 'sha256', encoding: 'hex', key_encoding: 'hex' } as const;
  const method: PollSignature = {
    kind: 'signature',
    steps: [
      { ...hmac, name: 'first', of: '{{nonce:short}}', of_encoding: 'hex', key: '/secrets/key' },
      { ...hmac, name: 'second', of: '{{timestamp:milliseconds}}', key: '{{first}}' },
      { ...hmac, name: 'signing', of: 'vcode_request_version_1', key: '{{second}}' },
      {
        ...hmac,
        name: 'signature',
        of: 'id={{/settings/id}}&host={{host}}&url={{target}}&method={{method}}',
        key: '{{signing}}',
      },
    ],
    headers: {
      Authorization:
        'VERACODE-HMAC-SHA-256 id={{/settings/id}},ts={{timestamp:milliseconds}},nonce={{nonce:short}},sig={{signature}}',
    },
  };
  const moment = { at: 1_600_000_000_123, nonce: '0f'.repeat(32) };
  const key = 'ab'.repeat(64);
  const { headers } = signed(method, { url: 'https://api.veracode.com/a/b?c=d' }, { key }, { id: 'me' }, moment);
  const first = mac(Buffer.from(key, 'hex'), Buffer.alloc(16, 0x0f));
  const signing = mac(mac(first, '1600000000123'), 'vcode_request_version_1');
  const signature = mac(signing, 'id=me&host=api.veracode.com&url=/a/b?c=d&method=GET').toString('hex');
  expect(headers.get('authorization')).toBe(
    `VERACODE-HMAC-SHA-256 id=me,ts=1600000000123,nonce=${'0f'.repeat(16)},sig=${signature}`,
  );
});

const oauth1 = {
  kind: 'oauth1',
  consumer_key: '/settings/consumer',
  consumer_secret: '/secrets/consumer',
  token: '/settings/token',
  token_secret: '/secrets/token',
  realm: '/settings/realm',
} as const;

test.each<[string, Sent & { algorithm: 'HMAC-SHA1' }, string[], Moment, string]>([
  [
    'https://developer.x.com/en/docs/authentication/oauth-1-0a/creating-a-signature',
    {
      method: 'POST',
      url: 'https://api.twitter.com/1.1/statuses/update.json?include_entities=true',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21',
      algorithm: 'HMAC-SHA1',
    },
    [
      'xvz1evFS4wEEPTGEFPHBog',
      'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
      '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
      'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
    ],
    { at: 1_318_622_958_000, nonce: 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg' },
    'hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D',
  ],
])('OAuth 1.0: %s', (_name, { method = 'GET', url, headers = {}, body, algorithm }, keys, moment, signature) => {
  const [consumer, consumerSecret = '', token, tokenSecret = ''] = keys;
  const request = { method, url: new URL(url), headers: new Headers(headers), ...(body !== undefined && { body }) };
  const config = {
    settings: { consumer, token, realm: 'Photos' },
    secrets: { consumer: consumerSecret, token: tokenSecret },
  };
  signOAuth1({ ...oauth1, algorithm }, request, config, moment);
  const header = request.headers.get('authorization') ?? '';
  expect(header).toContain(`oauth_signature="${signature}"`);
  expect(header).toContain(`OAuth realm="Photos", oauth_consumer_key="${consumer}"`);
});

/** https://github.com/awslabs/aws-c-auth, tests/aws-signing-test-suite/v4 */
test.each([
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-order-encoded',
    'GET',
    '/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1',
    '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
  ],
  ['get-vanilla-utf8-query', 'GET', '/?ሴ=bar', '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04'],
  ['get-slashes-normalized', 'GET', '//example//', '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84'],
  ['post-vanilla-query', 'POST', '/?Param1=value1', '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11'],
  [
    'get-vanilla-with-session-token',
    'GET',
    '/',
    '07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
    '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267',
  ],
])('AWS Signature Version 4: %s', async (_name, method, path, signature, token = '') => {
  const secrets = { key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', ...(token && { token }) };
  const authentication = awsAuthentication(
    {
      kind: 'aws_sigv4',
      access_key_id: '/settings/id',
      secret_access_key: '/secrets/key',
      session_token: '/secrets/token',
      region: '{{/settings/region}}',
      service: 'service',
    },
    {
      config: { settings: { id: 'AKIDEXAMPLE', region: 'us-east-1' }, secrets },
      subject: { product: 'AWS' },
      base: new URL('https://example.amazonaws.com'),
      egress: noEgress,
      requester: () => Promise.reject(new Error('none')),
      now: () => 0,
      vendorNow: () => Date.UTC(2015, 7, 30, 12, 36),
      refused: () => new PollError(failed('rejected', ''), 'permanent'),
    },
  );
  const request = { method, url: new URL(`https://example.amazonaws.com${path}`), headers: new Headers() };
  await authentication.sign(request, new AbortController().signal);
  expect(request.headers.get('authorization')).toContain(`Signature=${signature}`);
  expect(request.headers.get('x-amz-date')).toBe('20150830T123600Z');
});

test.each([
  ['acm.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['acm.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['acm.eu-west-1.amazonaws.com.attacker.example', 'us-east-1'],
  ['account.amazonaws.com', 'us-east-1'],
])('AWS Signature Version 4 for the region of %s', async (host, region) => {
  const authentication = awsAuthentication(
    {
      kind: 'aws_sigv4',
      access_key_id: '/settings/id',
      secret_access_key: '/secrets/key',
      region: 'us-east-1',
      region_of_host: true,
      service: 'acm',
    },
    {
      config: { settings: { id: 'AKIDEXAMPLE' }, secrets: { key: 'k' } },
      subject: { product: 'AWS' },
      base: new URL(`https://${host}`),
      egress: noEgress,
      requester: () => Promise.reject(new Error('none')),
      now: () => 0,
      vendorNow: () => Date.UTC(2015, 7, 30, 12, 36),
      refused: () => new PollError(failed('rejected', ''), 'permanent'),
    },
  );
  const request = { method: 'GET', url: new URL(`https://${host}/`), headers: new Headers() };
  await authentication.sign(request, new AbortController().signal);
  expect(request.headers.get('authorization')).toContain(`/20150830/${region}/acm/aws4_request`);
});

test('AWS Signature Version 4 with the role of each request', async () => {
  const assumed: string[] = [];
  const authentication = awsAuthentication(
    { kind: 'aws_sigv4', role_of_request: true, region: 'us-east-1', service: 'iam' },
    {
      config: { settings: {}, secrets: {} },
      subject: { product: 'AWS' },
      base: new URL('https://iam.amazonaws.com'),
      egress: noEgress,
      roles: {
        externalId: 'cf-1',
        assume: (arn) => {
          assumed.push(arn);
          return Promise.resolve({ accessKeyId: `KEY${arn.at(-1)}`, secretAccessKey: 'k', sessionToken: 't' });
        },
      },
      requester: () => Promise.reject(new Error('none')),
      now: () => 0,
      vendorNow: () => Date.UTC(2015, 7, 30, 12, 36),
      refused: () => new PollError(failed('rejected', ''), 'permanent'),
    },
  );
  const signedBy = async (role: string): Promise<string | null> => {
    const request = { method: 'GET', url: new URL('https://iam.amazonaws.com/'), headers: new Headers(), role };
    await authentication.sign(request, new AbortController().signal);
    return request.headers.get('authorization');
  };
  expect(await signedBy('arn:aws:iam::1:role/a')).toContain('Credential=KEYa/');
  expect(await signedBy('arn:aws:iam::2:role/b')).toContain('Credential=KEYb/');
  expect(assumed).toEqual(['arn:aws:iam::1:role/a', 'arn:aws:iam::2:role/b']);
  await expect(signedBy('')).rejects.toMatchObject({ code: 'invalid_config' });
});
