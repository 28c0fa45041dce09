/**
 * Vendors' requests to inputs with a `receive` definition, as the vendors document them. Signatures
 * come from `jose` and from published test vectors.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Egress } from '@connector-frame/engine/egress';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  startIngestListener,
  type IngestListener,
  type SendOptions,
} from '../../../../test/support/ingest-listener.js';

type Receiver = Awaited<ReturnType<IngestListener['newReceiver']>>;

/** What the vendor's key endpoint was asked, and what it answers. */
const asked: { url: string; body: unknown }[] = [];
let answer: () => Response = () => new Response('{}', { status: 400 });
const egress: Egress = {
  async fetch(url, init) {
    asked.push({ url: String(url), body: JSON.parse(String(init?.body)) });
    return answer();
  },
  connect: () => Promise.reject(new Error('not used')),
};

let listener: IngestListener;
beforeAll(async () => {
  listener = await startIngestListener(undefined, egress);
});
afterAll(() => listener.close());
beforeEach(() => {
  listener.reset();
  asked.length = 0;
});

const post = (to: Receiver, body: string | Uint8Array, headers: Record<string, string> = {}, more: SendOptions = {}) =>
  listener.post(to.path, body, { headers, ...more });
const event = (uuid: string) => ({ uuid, eventType: 'user.lifecycle.create', severity: 'INFO' });
const now = () => Math.floor(listener.service.clock.now() / 1_000);
const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const basic = (user: string, password: string) => `Basic ${base64(`${user}:${password}`)}`;
const records = () => listener.engine.appended.flatMap(({ lines }) => lines.map((line): unknown => JSON.parse(line)));

describe('the address', () => {
  it('can not be derived from the id of a connector', async () => {
    const hook = await listener.newReceiver('okta-event-hooks');
    const headers = { authorization: hook.token };
    for (const path of [`/ingest/${hook.id}`, `/ingest/${hook.id}.`, `/ingest/${hook.id}.AAAAAAAAAAAAAAAAAAAAAA`]) {
      const refused = await listener.post(path, '{}', { headers });
      expect([404, 401]).toContain(refused.status);
    }
    expect((await listener.post(`${hook.path}/more`, '{}', { headers })).status).toBe(404);
    expect((await post(hook, '', headers, { method: 'DELETE', headers })).status).toBe(405);
    expect(listener.engine.appended).toEqual([]);
  });
});

describe('Okta event hooks', () => {
  // https://developer.okta.com/docs/concepts/event-hooks/
  const body = JSON.stringify({
    eventType: 'com.okta.event_hook',
    eventTypeVersion: '1.0',
    data: { events: [event('e1'), event('e2')] },
  });

  it('verify the address, whatever else is missing', async () => {
    const hook = await listener.newReceiver('okta-event-hooks');
    const headers = { 'x-okta-verification-challenge': 'ABC"123' };
    const verified = await post(hook, '', headers, { method: 'GET', headers });
    expect([verified.status, verified.json]).toEqual([200, { verification: 'ABC"123' }]);
    expect(verified.headers['content-type']).toBe('application/json');
  });

  it('deliver events with the token in their authentication field', async () => {
    const hook = await listener.newReceiver('okta-event-hooks');
    for (const authorization of [hook.token, `Bearer ${hook.token}`])
      expect((await post(hook, body, { authorization })).status).toBe(200);
    expect(records()).toEqual([event('e1'), event('e2'), event('e1'), event('e2')]);
    for (const authorization of ['', 'x', `Bearer ${hook.token}x`])
      expect((await post(hook, body, { authorization })).status).toBe(401);
    expect(listener.engine.appended).toHaveLength(2);
  });
});

describe('Jamf Pro webhooks', () => {
  // https://developer.jamf.com/developer-guide/docs/webhooks
  const body = '{"webhook":{"id":1,"name":"X","webhookEvent":"ComputerAdded"},"event":{"udid":"","jssID":7.0}}';

  it('deliver one event, by basic or header authentication', async () => {
    const hook = await listener.newReceiver('jamf-pro-events');
    const authorization = basic('jamf', hook.token);
    expect((await post(hook, body, { authorization })).status).toBe(200);
    expect((await post(hook, body, { authorization: `Bearer ${hook.token}` })).status).toBe(200);
    expect(listener.engine.appended.map(({ lines }) => lines)).toEqual([[body], [body]]);
    expect((await post(hook, body, { authorization: basic(hook.token, 'jamf') })).status).toBe(401);
  });
});

describe('Plaid webhooks', () => {
  const settings = { client_id: '0123456789abcdef01234567', webhook_types: ['TRANSACTIONS'] };
  const secrets = { secret: { value: 'canary-plaid-secret' } };
  // https://plaid.com/docs/api/products/transactions/#sync_updates_available
  const body = JSON.stringify(
    { webhook_type: 'TRANSACTIONS', webhook_code: 'SYNC_UPDATES_AVAILABLE', item_id: 'wz666MBjYWTp2PDzzggYhM6oWWmBb' },
    null,
    2,
  );
  const kid = 'bfbd5111-8e33-4643-8ced-b2e642a72f3c';

  async function signer() {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig', kid, created_at: 1, expired_at: null };
    answer = () => Response.json({ key: jwk, request_id: 'RZ6Omi1bzzwDaLo' });
    const sign = (text: string, { at = now(), id = kid }: { at?: number; id?: string } = {}) =>
      new SignJWT({ request_body_sha256: createHash('sha256').update(text).digest('hex') })
        .setProtectedHeader({ alg: 'ES256', kid: id, typ: 'JWT' })
        .setIssuedAt(at)
        .sign(privateKey);
    return { sign, jwk };
  }

  it("are verified with the key from Plaid's API", async () => {
    const hook = await listener.newReceiver('plaid-webhooks', settings, secrets);
    const { sign } = await signer();
    expect((await post(hook, body, { 'Plaid-Verification': await sign(body) })).status).toBe(200);
    expect((await post(hook, body, { 'Plaid-Verification': await sign(body, { at: now() - 60 }) })).status).toBe(200);
    expect(records()).toEqual([JSON.parse(body), JSON.parse(body)]);
    // One request for the key, as in https://plaid.com/docs/api/webhooks/webhook-verification/
    expect(asked).toEqual([
      {
        url: 'https://production.plaid.com/webhook_verification_key/get',
        body: { client_id: settings.client_id, secret: 'canary-plaid-secret', key_id: kid },
      },
    ]);
  });

  it('are refused when unsigned, changed, old, or signed by others', async () => {
    const hook = await listener.newReceiver('plaid-webhooks', settings, secrets);
    const { sign } = await signer();
    const other = await generateKeyPair('ES256');
    const forged = await new SignJWT({ request_body_sha256: createHash('sha256').update(body).digest('hex') })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuedAt(now())
      .sign(other.privateKey);
    const [head = '', claims = ''] = (await sign(body)).split('.');
    const none = `${Buffer.from(JSON.stringify({ alg: 'none', kid })).toString('base64url')}.${claims}.x`;
    const symmetric = await new SignJWT({ request_body_sha256: createHash('sha256').update(body).digest('hex') })
      .setProtectedHeader({ alg: 'HS256', kid })
      .setIssuedAt(now())
      .sign(Buffer.from('canary-plaid-secret'));
    const attempts: [string, string][] = [
      ['', body],
      [none, body],
      [symmetric, body],
      [`${head}.${claims}.`, body],
      [forged, body],
      [await sign(body), body.replace('wz666', 'wz667')],
      [await sign(body), JSON.stringify(JSON.parse(body))],
      [await sign(body, { at: now() - 400 }), body],
      [await sign(body, { at: now() + 400 }), body],
    ];
    for (const [jwt, text] of attempts) {
      const refused = await post(hook, text, jwt === '' ? {} : { 'Plaid-Verification': jwt });
      expect(refused.status, jwt).toBe(401);
    }
    expect(listener.engine.appended).toEqual([]);
  });

  it('are stored once, however often the same request comes', async () => {
    const hook = await listener.newReceiver('plaid-webhooks', settings, secrets);
    const { sign } = await signer();
    const jwt = await sign(body);
    listener.engine.store = () => Promise.resolve({ stored: false, reason: 'full' });
    expect((await post(hook, body, { 'Plaid-Verification': jwt })).status).toBe(429);
    listener.reset();
    for (let time = 0; time < 2; time += 1)
      expect((await post(hook, body, { 'Plaid-Verification': jwt })).status).toBe(200);
    expect(records()).toEqual([JSON.parse(body)]);
  });

  it('wait while the key is not available, and are refused if Plaid does not know it', async () => {
    const hook = await listener.newReceiver('plaid-webhooks', settings, secrets);
    const { sign, jwk } = await signer();
    answer = () => new Response('canary-plaid-secret', { status: 500 });
    const later = await post(hook, body, { 'Plaid-Verification': await sign(body) });
    expect(later.status).toBe(503);
    answer = () => new Response('{}', { status: 400 });
    expect((await post(hook, body, { 'Plaid-Verification': await sign(body) })).status).toBe(401);
    answer = () => Response.json({ key: { ...jwk, expired_at: now() - 1 } });
    expect((await post(hook, body, { 'Plaid-Verification': await sign(body, { id: 'retired' }) })).status).toBe(401);
    expect(later.body.toString() + listener.service.log.join('')).not.toContain('canary-plaid-secret');
  });

  it('of other types than chosen are acknowledged and dropped', async () => {
    const hook = await listener.newReceiver('plaid-webhooks', settings, secrets);
    const { sign } = await signer();
    const other = '{"webhook_type":"ITEM","webhook_code":"ERROR"}';
    expect((await post(hook, other, { 'Plaid-Verification': await sign(other) })).status).toBe(200);
    expect(records()).toEqual([]);
  });
});

describe('Amazon Data Firehose', () => {
  // https://docs.aws.amazon.com/firehose/latest/dev/httpdeliveryrequestresponse.html
  const id = 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f';
  const body = (data: readonly string[]) =>
    JSON.stringify({ requestId: id, timestamp: 1_578_090_901_599, records: data.map((each) => ({ data: each })) });
  const key = 'firehose-access-key';
  const headers = { 'X-Amz-Firehose-Protocol-Version': '1.0', 'X-Amz-Firehose-Request-Id': id };

  it('delivers records in Base64, and gets its id back', async () => {
    const settings = { common_attributes: ['environment'] };
    const hook = await listener.newReceiver('aws-data-firehose', settings, { access_key: { value: key } });
    const documented = body(['aGVsbG8=', 'aGVsbG8gd29ybGQ=']);
    const sent = await post(hook, gzipSync(documented), {
      ...headers,
      'X-Amz-Firehose-Access-Key': key,
      'Content-Encoding': 'gzip',
      'X-Amz-Firehose-Common-Attributes': '{"commonAttributes":{"environment":"prod","other":"x"}}',
    });
    expect([sent.status, sent.headers['content-type']]).toEqual([200, 'application/json']);
    expect(sent.json).toEqual({ requestId: id, timestamp: expect.any(Number) });
    expect(records()).toEqual([
      { environment: 'prod', message: 'hello' },
      { environment: 'prod', message: 'hello world' },
    ]);
    expect(listener.engine.appended[0]?.options?.position).toBeDefined();
  });

  it('delivers JSON, and what CloudWatch Logs has compressed', async () => {
    const hook = await listener.newReceiver('aws-data-firehose', {}, { access_key: { value: key } });
    const packed = gzipSync('{"messageType":"DATA_MESSAGE","logEvents":[{"id":36885}]}');
    const data = [base64('{"n":12345678901234567890}\n{"n":2}\n'), base64(packed)];
    expect((await post(hook, body(data), { ...headers, 'X-Amz-Firehose-Access-Key': key })).status).toBe(200);
    expect(records()).toEqual([
      { n: '12345678901234567890' },
      { n: 2 },
      { messageType: 'DATA_MESSAGE', logEvents: [{ id: 36885 }] },
    ]);
  });

  it('learns in its own format why a request is refused', async () => {
    const hook = await listener.newReceiver('aws-data-firehose', {}, { access_key: { value: key } });
    const expected = { requestId: id, timestamp: expect.any(Number), errorMessage: expect.any(String) };
    for (const wrong of [undefined, 'x', `${key}x`]) {
      const own = wrong === undefined ? {} : { 'X-Amz-Firehose-Access-Key': wrong };
      const refused = await post(hook, body(['aGVsbG8=']), { ...headers, ...own });
      expect([refused.status, refused.json]).toEqual([401, expected]);
    }
    const right = { ...headers, 'X-Amz-Firehose-Access-Key': key };
    expect((await post(hook, body(['%%%']), right)).status).toBe(400);
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024));
    expect((await post(hook, body([base64(bomb)]), right)).status).toBe(413);
    listener.engine.store = () => Promise.resolve({ stored: false, reason: 'full' });
    const full = await post(hook, body(['aGVsbG8=']), right);
    expect([full.status, full.json, full.headers['retry-after']]).toEqual([429, expected, '5']);
  });
});

describe('Heroku log drains', () => {
  // https://github.com/heroku/logplex/blob/master/doc/README.http_drains.md: 730 bytes
  const message = '70 <174>1 2012-07-22T00:06:26+00:00 host erlang console - Hi from erlang\n';
  const body = message.repeat(10);
  const headers = {
    'Content-Type': 'application/logplex-1',
    'Logplex-Msg-Count': '10',
    'Logplex-Frame-Id': '09C557EAFCFB6CF2740EE62F62971098',
    'Logplex-Drain-Token': 'd.fc6b856b-3332-4546-93de-7d0ee272c3bd',
  };

  it('deliver messages with an octet count', async () => {
    expect(body).toHaveLength(730);
    const settings = { auth: { strategy: 'basic', username: 'heroku' }, query_parameters: ['app'] };
    const drain = await listener.newReceiver('heroku-logs', settings, { password: { value: 'geheim:1' } });
    const right = { ...headers, authorization: basic('heroku', 'geheim:1') };
    const sent = await listener.post(`${drain.path}?app=shop`, body, { headers: right });
    expect(sent.status).toBe(204);
    expect(records()).toHaveLength(10);
    expect(records()[0]).toMatchObject({
      app: 'shop',
      drain_token: 'd.fc6b856b-3332-4546-93de-7d0ee272c3bd',
      timestamp: expect.stringMatching(/^2012-07-22T00:06:26/),
      hostname: 'host',
      app_name: 'erlang',
      proc_id: 'console',
    });
    for (const [user, password] of [
      ['heroku', 'geheim'],
      ['Heroku', 'geheim:1'],
      ['', ''],
      ['x', drain.token],
    ] as const)
      expect((await post(drain, body, { ...headers, authorization: basic(user, password) })).status).toBe(401);
  });

  it('may use the token as the password', async () => {
    const drain = await listener.newReceiver('heroku-logs');
    expect((await post(drain, body, headers)).status).toBe(401);
    expect((await post(drain, body, { ...headers, authorization: basic('x', drain.token) })).status).toBe(204);
  });

  it('are not received with a rule that can not be evaluated', async () => {
    const drain = await listener.newReceiver('heroku-logs', { auth: { strategy: 'custom', source: 'true' } });
    expect((await post(drain, body, { ...headers, authorization: basic('x', drain.token) })).status).toBe(503);
  });
});

describe('a changed secret', () => {
  it('counts at once, and the earlier one no longer', async () => {
    const hook = await listener.newReceiver('aws-data-firehose', {}, { access_key: { value: 'first' } });
    const send = (key: string) => post(hook, '{"records":[]}', { 'X-Amz-Firehose-Access-Key': key });
    expect((await send('first')).status).toBe(200);
    const { acme, service } = listener;
    const body = { config: { secrets: { access_key: { value: 'second' } } } };
    const changed = await service.call('PATCH', `/v2/${acme.team}/inputs/${hook.id}`, { key: acme.key, body });
    expect(changed.status, changed.text).toBe(200);
    service.clock.advance(1_000);
    expect([(await send('first')).status, (await send('second')).status]).toEqual([401, 200]);
  });
});
