import { createPublicKey, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import type { PollAuthentication } from '@connector-frame/catalog/types';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { config, data, open, ORIGIN, records } from '../../../../../../test/support/poll-acme.js';
import { START } from '../../../../../../test/support/poll-driver.js';
import type { Received, Reply } from '../../../../../../test/support/vendor.js';
import { awsAuthentication } from './aws-signature.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const pem = (type: 'pkcs1' | 'pkcs8') => rsa.privateKey.export({ type, format: 'pem' }).toString();

const sentWith = async (
  authentication: PollAuthentication,
  given: { settings?: Record<string, unknown>; secrets: Record<string, string> },
  token: (request: Received) => Reply = () => ({ body: { access_token: 'canary-access', expires_in: 600 } }),
) => {
  const { driver, requests, clock } = await open(
    { authentication },
    (_query, request) => (request.url.startsWith('/events') ? data(...records(0, 1)) : token(request)),
    { settings: { ...config.settings, ...given.settings }, secrets: given.secrets },
  );
  await driver.poll();
  return { driver, requests, clock, first: requests[0], last: requests.at(-1) };
};
const isSignedBy = (token: string, key: KeyObject): boolean => {
  const [head = '', claims = '', signature = ''] = token.split('.');
  return verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'));
};

test('sends nothing without authentication', async () => {
  const { last } = await sentWith({ kind: 'none' }, { secrets: {} });
  expect(last?.headers.authorization).toBeUndefined();
});

test('sends several credentials in headers, parameters and the body', async () => {
  const authentication: PollAuthentication = {
    kind: 'fields',
    headers: {
      Authorization: 'Token token={{/secrets/token}}',
      'X-Keys': '{{/settings/access}}:{{/secrets/secret}}',
      'X-Team': '{{/settings/team}}',
    },
    query: { auth: '{{/secrets/secret}}' },
    body: { api_key: '/secrets/token' },
  };
  const secrets = { token: 'canary-t', secret: 'canary&s' };
  const { last } = await sentWith(authentication, { settings: { access: 'AK' }, secrets });
  expect(last?.headers).toMatchObject({ authorization: 'Token token=canary-t', 'x-keys': 'AK:canary&s' });
  expect(last?.headers['x-team']).toBeUndefined();
  expect(last?.url).toMatch(/&auth=canary%26s$/);
  const stream = {
    name: 'events',
    path: '/events',
    page_size: 10,
    records: { path: '/data' },
    pagination: { kind: 'none' },
    cursor: { kind: 'none' },
  } as const;
  const given = { settings: { access: 'AK' }, secrets };
  const json = await open({ authentication, streams: [{ ...stream, body: { a: 1 } }] }, () => data(), given);
  await json.driver.poll();
  expect(JSON.parse(json.requests[0]?.body ?? '')).toEqual({ a: 1, api_key: 'canary-t' });
  const form = await open({ authentication, streams: [{ ...stream, form: { a: '1' } }] }, () => data(), given);
  await form.driver.poll();
  expect(form.requests[0]?.body).toBe('a=1&api_key=canary-t');
  // Logpoint takes them in the body of a GET request: https://docs.logpoint.com/api-documentation/incident-api
  const read = await open(
    { authentication, streams: [{ ...stream, method: 'GET', body: { a: 1 } }] },
    () => data(),
    given,
  );
  await read.driver.poll();
  expect(JSON.parse(read.requests[0]?.body ?? '')).toEqual({ a: 1, api_key: 'canary-t' });
});

const basicOf = async (user: string, password: string) =>
  Buffer.from(
    (
      await sentWith({ kind: 'basic', user, password }, { settings: { mail: 'a@b.c' }, secrets: { key: 'canary' } })
    ).last?.headers.authorization?.slice('Basic '.length) ?? '',
    'base64',
  ).toString();

test('fills in constants and templates in basic authentication', async () => {
  expect(await basicOf('/secrets/key', 'x')).toBe('canary:x');
  expect(await basicOf('{{/settings/mail}}/token', '/secrets/key')).toBe('a@b.c/token:canary');
});

test('requests a token as vendors vary it', async () => {
  const { first, last } = await sentWith(
    {
      kind: 'client_credentials',
      token_url: { field: '/settings/region', of: { eu: `${ORIGIN}/eu/token`, us: `${ORIGIN}/us/token` } },
      client_id: '/settings/id',
      client_secret: '/secrets/secret',
      client: 'body',
      body: 'json',
      scopes: ['read', '{{/settings/tenant}}/.default'],
      audience: 'https://api.acme.example',
      parameters: { tenant: '{{/settings/tenant}}', none: '{{/settings/none}}', key: '/secrets/secret' },
      headers: { 'X-Api-Key': '/secrets/secret' },
      token: '/data/jwt',
      lifetime_seconds: 100,
      header: 'X-Auth',
      prefix: '',
    },
    { settings: { region: 'eu', id: 'me', tenant: 't1' }, secrets: { secret: 'canary' } },
    () => ({ body: { data: { jwt: 'canary-jwt' } } }),
  );
  expect(first).toMatchObject({ url: '/eu/token', headers: { 'x-api-key': 'canary' } });
  expect(JSON.parse(first?.body ?? '')).toEqual({
    grant_type: 'client_credentials',
    client_id: 'me',
    client_secret: 'canary',
    scope: 'read t1/.default',
    audience: 'https://api.acme.example',
    tenant: 't1',
    key: 'canary',
  });
  expect(last?.headers['x-auth']).toBe('canary-jwt');
});

test('refreshes a token without a store, and keeps the new one in memory', async () => {
  let current = 'canary-0';
  let count = 0;
  const { driver, clock, requests } = await sentWith(
    { kind: 'refresh_token', token_url: `${ORIGIN}/token`, client_id: 'public', refresh_token: '/secrets/refresh' },
    { secrets: { refresh: current } },
    ({ body }) => {
      const form = new URLSearchParams(body);
      if (form.get('refresh_token') !== current) return { status: 400, body: { error: 'invalid_grant' } };
      current = `canary-${(count += 1)}`;
      return { body: { access_token: 'a', refresh_token: current, expires_in: 600 } };
    },
  );
  clock.ms += 600_000;
  await driver.poll();
  expect(Object.fromEntries(new URLSearchParams(requests[0]?.body))).toEqual({
    grant_type: 'refresh_token',
    refresh_token: 'canary-0',
    client_id: 'public',
  });
  expect(requests.map(({ url }) => url.split('?')[0])).toEqual(['/token', '/events', '/token', '/events']);
});

test('sends a JWT of its own, with claims and the id of the key', async () => {
  const { last } = await sentWith(
    {
      kind: 'jwt',
      key: '/secrets/key',
      key_format: 'text',
      algorithm: 'HS256',
      key_id: '/settings/id',
      issuer: 'connector',
      subject: '/settings/id',
      audience: 'acme',
      jwt_lifetime_seconds: 120,
      claims: { tenant: '{{/settings/tenant}}', none: '{{/settings/none}}', version: 2, admin: false },
    },
    { settings: { id: 'k1', tenant: 't1' }, secrets: { key: 'canary-canary-canary-canary-canary' } },
  );
  const token = last?.headers.authorization?.slice('Bearer '.length) ?? '';
  const { payload, protectedHeader } = await jwtVerify(token, Buffer.from('canary-canary-canary-canary-canary'), {
    currentDate: new Date(START),
  });
  expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'k1' });
  expect(payload).toEqual({
    iss: 'connector',
    sub: 'k1',
    aud: 'acme',
    iat: START / 1_000,
    exp: START / 1_000 + 120,
    tenant: 't1',
    version: 2,
    admin: false,
  });
});

/** https://docs.blackberry.com/en/unified-endpoint-security/cylance--products/cylance-api */
test('exchanges a JWT in JSON as a vendor defines it, and sends a key with each request', async () => {
  const { first, last } = await sentWith(
    {
      kind: 'private_key_jwt',
      grant: 'custom',
      parameter: 'auth_token',
      body: 'json',
      token_url: `${ORIGIN}/auth/v2/token`,
      key: '/secrets/key',
      key_format: 'text',
      algorithm: 'HS256',
      issuer: 'http://cylance.com',
      subject: '/settings/app',
      claims: { tid: '{{/settings/tenant}}', jti: '{{nonce}}' },
      jwt_lifetime_seconds: 1_800,
      also: { headers: { 'x-api-key': '/secrets/key' } },
    },
    { settings: { app: 'a1', tenant: 't1' }, secrets: { key: 'canary-canary-canary-canary-canary' } },
  );
  const { auth_token: jwt } = JSON.parse(first?.body ?? '');
  expect(decodeJwt(jwt)).toMatchObject({ iss: 'http://cylance.com', sub: 'a1', tid: 't1', jti: expect.any(String) });
  expect(last?.headers).toMatchObject({
    authorization: 'Bearer canary-access',
    'x-api-key': 'canary-canary-canary-canary-canary',
  });
});

/** https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app */
test('exchanges the JWT of a GitHub App for the token of its installation', async () => {
  const { first, last, driver, clock, requests } = await sentWith(
    {
      kind: 'github_app',
      app_id: '/settings/app',
      key: '/secrets/key',
      installation_id: '/settings/installation',
      api_url: ORIGIN,
    },
    // GitHub issues PKCS #1 keys.
    { settings: { app: '12345', installation: 678 }, secrets: { key: pem('pkcs1') } },
    () => ({
      status: 201,
      headers: { date: new Date(START + 30_000).toUTCString() },
      body: { token: 'ghs_canary', expires_at: '2026-03-10T13:00:30Z', permissions: { issues: 'read' } },
    }),
  );
  expect(first).toMatchObject({ method: 'POST', url: '/app/installations/678/access_tokens' });
  expect(first?.headers.accept).toBe('application/vnd.github+json');
  const jwt = first?.headers.authorization?.slice('Bearer '.length) ?? '';
  expect(isSignedBy(jwt, rsa.publicKey)).toBe(true);
  expect(decodeProtectedHeader(jwt)).toMatchObject({ alg: 'RS256' });
  const { iss, iat = 0, exp = 0 } = decodeJwt(jwt);
  expect([iss, iat <= START / 1_000 - 60, exp - iat <= 600]).toEqual(['12345', true, true]);
  expect(last?.headers.authorization).toBe('Bearer ghs_canary');
  clock.ms += 3_500_000;
  await driver.poll();
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  clock.ms += 60_000;
  await driver.poll();
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
});

test('signs assertions with the key of a service account, for the address of the definition', async () => {
  const file = {
    private_key: pem('pkcs8'),
    client_email: 'a@acme.example',
    private_key_id: 'id1',
    token_uri: 'https://attacker.example/token',
  };
  const { first } = await sentWith(
    {
      kind: 'private_key_jwt',
      grant: 'jwt_bearer',
      token_url: `${ORIGIN}/token`,
      key: '/secrets/file',
      key_format: 'service_account',
      scopes: ['logs'],
      subject: '/settings/admin',
      parameters: { tenant: 'x' },
    },
    { settings: { admin: 'admin@acme.example' }, secrets: { file: JSON.stringify(file) } },
  );
  const form = new URLSearchParams(first?.body);
  expect(form.get('tenant')).toBe('x');
  const jwt = form.get('assertion') ?? '';
  expect(isSignedBy(jwt, createPublicKey(rsa.publicKey.export({ type: 'spki', format: 'pem' })))).toBe(true);
  expect(decodeProtectedHeader(jwt)).toMatchObject({ kid: 'id1' });
  expect(decodeJwt(jwt)).toMatchObject({
    iss: 'a@acme.example',
    sub: 'admin@acme.example',
    aud: `${ORIGIN}/token`,
    scope: 'logs',
  });
});

test.each([
  ['pem', 'canary', 'This is not an unencrypted private key in PEM format, or it has another algorithm.'],
  ['service_account', '{"private_key":"canary"}', 'This is not a service account key. Enter the whole JSON file.'],
] as const)('reports a key that is not %s, without quoting it', async (format, key, message) => {
  const authentication = { kind: 'jwt', key: '/secrets/key', key_format: format } as const;
  const opened = open({ authentication }, () => data(), { secrets: { key } });
  await expect(opened).rejects.toMatchObject({ code: 'invalid_config', message });
});

/** The response of the documentation: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
test('assumes a role in AWS, and signs with its credentials until they expire', async () => {
  let now = START;
  const sts: Pick<Received, 'url' | 'headers' | 'body'>[] = [];
  const authentication = awsAuthentication(
    {
      kind: 'aws_sigv4',
      access_key_id: '/settings/key_id',
      secret_access_key: '/secrets/key',
      region: '{{/settings/region}}',
      role_arn: '/settings/role',
      external_id: '/settings/external',
      service: 'securityhub',
    },
    {
      config: {
        settings: {
          key_id: 'AKIDEXAMPLE',
          region: 'eu-west-1',
          role: 'arn:aws:iam::123456789012:role/r',
          external: 'org-1',
        },
        secrets: { key: 'canary' },
      },
      subject: { product: 'AWS' },
      base: new URL('https://securityhub.eu-west-1.amazonaws.com'),
      now: () => now,
      vendorNow: () => now,
      refused: () => expect.unreachable(),
      requester: () => expect.unreachable(),
      egress: {
        connect: () => expect.unreachable(),
        fetch: (url, { headers, body } = {}) => {
          sts.push({ url: String(url), headers: Object.fromEntries(new Headers(headers)), body: String(body) });
          const text = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
          <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/demo/TestAR</Arn></AssumedRoleUser>
          <Credentials><AccessKeyId>ASIAIOSFODNN7EXAMPLE</AccessKeyId>
          <SecretAccessKey>wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY</SecretAccessKey>
          <SessionToken>AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQW==</SessionToken>
          <Expiration>2026-03-10T13:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
          return Promise.resolve(new Response(text));
        },
      },
    },
  );
  const signed = async (): Promise<Headers> => {
    const request = {
      method: 'GET',
      url: new URL('https://securityhub.eu-west-1.amazonaws.com/findings'),
      headers: new Headers(),
    };
    await authentication.sign(request, new AbortController().signal);
    return request.headers;
  };
  const headers = await signed();
  await signed();
  expect(sts).toHaveLength(1);
  expect(sts[0]?.url).toBe('https://sts.eu-west-1.amazonaws.com/');
  expect(sts[0]?.headers['authorization']).toContain('Credential=AKIDEXAMPLE/20260310/eu-west-1/sts/aws4_request');
  expect(Object.fromEntries(new URLSearchParams(sts[0]?.body))).toMatchObject({
    Action: 'AssumeRole',
    RoleArn: 'arn:aws:iam::123456789012:role/r',
    ExternalId: 'org-1',
  });
  expect(headers.get('authorization')).toContain('Credential=ASIAIOSFODNN7EXAMPLE/20260310/eu-west-1/securityhub/');
  expect(headers.get('x-amz-security-token')).toMatch(/^AQoDYXdzEPT/);
  now += 3_600_000;
  await signed();
  expect(sts).toHaveLength(2);
});
