import { generateKeyPairSync, verify } from 'node:crypto';
import type { PollDefinition } from '@connector-frame/catalog';
import { describe, expect, test } from 'vitest';
import { config, data, open, ORIGIN, records, streamed } from '../../../../../test/support/poll-acme.js';
import { START } from '../../../../../test/support/poll-driver.js';
import type { Received } from '../../../../../test/support/vendor.js';

const signedWith = async (
  authentication: PollDefinition['authentication'],
  secrets: Record<string, string>,
): Promise<Received | undefined> => {
  const { driver, requests } = await open({ authentication }, () => data(), { secrets });
  await driver.poll();
  return requests[0];
};

describe('signing in', () => {
  test('basic, a header, a parameter', async () => {
    const basic = await signedWith(
      { kind: 'basic', user: '/secrets/u', password: '/secrets/p' },
      { u: 'ada', p: 'canary' },
    );
    expect(basic?.headers.authorization).toBe(`Basic ${Buffer.from('ada:canary').toString('base64')}`);
    const header = await signedWith(
      { kind: 'header', name: 'X-Key', secret: '/secrets/k', prefix: 'Key ' },
      { k: 'canary' },
    );
    expect(header?.headers['x-key']).toBe('Key canary');
    const query = await signedWith({ kind: 'query', name: 'key', secret: '/secrets/k' }, { k: 'can&ary' });
    expect(query?.url).toMatch(/&key=can%26ary$/);
  });

  test('a secret that no header can carry is told without it, and so is an empty one', async () => {
    const broken = await open({}, () => data(), { secrets: { token: 'canary\nbreak' } });
    const error = await broken.driver.fails();
    expect(error).toMatchObject({ code: 'invalid_config', kind: 'permanent' });
    expect(JSON.stringify(error) + error.message).not.toContain('canary');
    await expect(open({}, () => data(), { secrets: {} })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  test('a key of our own instead of a secret they know', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const authentication: PollDefinition['authentication'] = {
      kind: 'private_key_jwt',
      grant: 'client_assertion',
      token_url: `${ORIGIN}/token`,
      key: '/secrets/key',
      key_format: 'pem',
      algorithm: 'ES256',
      issuer: '/settings/client',
      scopes: ['logs.read'],
    };
    let form = new URLSearchParams();
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { driver, requests, clock } = await open(
      { authentication },
      (_query, { url, body }) => {
        if (url !== '/token') return data(...records(0, 1));
        form = new URLSearchParams(body);
        return { body: { access_token: 'canary-access', expires_in: 600 } };
      },
      { settings: { ...config.settings, client: 'me' }, secrets: { key } },
    );
    await driver.poll();
    await driver.poll();
    expect(requests.map(({ url }) => url.split('?')[0])).toEqual(['/token', '/events', '/events']);
    expect(requests[2]?.headers.authorization).toBe('Bearer canary-access');
    expect(Object.fromEntries(form)).toMatchObject({ grant_type: 'client_credentials', scope: 'logs.read' });
    const [head = '', claims = '', signature = ''] = (form.get('client_assertion') ?? '').split('.');
    const signed = { key: publicKey, dsaEncoding: 'ieee-p1363' as const };
    expect(verify('sha256', Buffer.from(`${head}.${claims}`), signed, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: 'me',
      sub: 'me',
      aud: `${ORIGIN}/token`,
      exp: START / 1_000 + 300,
    });
    // The token is renewed before it expires.
    clock.ms += 550_000;
    await driver.poll();
    expect(requests.at(-2)?.url).toBe('/token');
  });

  test('settings can not lead secrets to another host or path', async () => {
    const hosted = {
      base_url: 'https://{{/settings/team}}.acme.example',
      ...streamed({ path: '/{{/settings/part}}/events' }),
    };
    const opened = (settings: Record<string, unknown>) => open(hosted, () => data(), { settings });
    for (const team of ['attacker.example/', 'x@attacker.example', 'a:443', 'attacker.example#', ''])
      await expect(opened({ team, part: 'a' })).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent' });
    for (const part of ['..', '.', ''])
      expect(await (await opened({ team: 'api', part })).driver.fails()).toMatchObject({ code: 'invalid_config' });
    const { driver, requests } = await opened({ team: 'api', part: '../../admin?x=1#y' });
    await driver.poll();
    expect(requests[0]?.url).toMatch(/^\/\.\.%2F\.\.%2Fadmin%3Fx%3D1%23y\/events\?since=/);
  });
});
