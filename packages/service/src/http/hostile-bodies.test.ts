import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBilling } from '../../../../test/support/billing.js';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { READ_ONLY_FIELDS } from './known-fields.js';
import { exampleRule, operationsOf } from '../../../../test/support/operations.js';
import { EXAMPLE } from '../pipelines/graph-bodies.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { signedInUser } from '../../../../test/support/users.js';

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;
let path: string;

beforeAll(async () => {
  const signIn = { localAccounts: true };
  service = await createTestService({ database: await databases.open(), settings: { signIn } });
  acme = await service.tenant('Northwind');
  path = `/v2/${acme.team}/inputs`;
});
afterAll(() => service.store.close());

const post = (body: string, headers: Record<string, string> = {}) =>
  service.call('POST', path, { key: acme.key, body, headers });
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const withSettings = (settings: string) => `{"name":"x","type":"okta-systemlog","config":{"settings":${settings}}}`;

describe('hostile request bodies (S17, S28)', () => {
  const refused: [name: string, body: string][] = [
    ['incomplete JSON', '{"name":'],
    ['an empty body', ''],
    ['a string', '"name"'],
    ['a list', '[]'],
    ['null', 'null'],
    ['__proto__', '{"name":"x","type":"demo","__proto__":{"polluted":1}}'],
    ['__proto__ in settings', withSettings('{"__proto__":{"polluted":1}}')],
    ['constructor in settings', withSettings('{"constructor":{"prototype":{"polluted":1}}}')],
    ['prototype as a key', withSettings('{"a":{"prototype":1}}')],
    ['depth 21', nested(21)],
    ['depth 100,000', nested(100_000)],
    ['2,001 values', withSettings(`[${Array(2_001).fill(0).join(',')}]`)],
    ['2,001 keys', withSettings(`{${Array.from({ length: 2_001 }, (_, index) => `"k${index}":0`).join(',')}}`)],
    ['a string longer than 64 KiB', withSettings(`{"org_url":"${'x'.repeat(65_537)}"}`)],
    ['a key longer than 64 KiB', withSettings(`{"${'x'.repeat(65_537)}":1}`)],
    ['a null character', withSettings('{"org_url":"a\\u0000b"}')],
    ['a lone surrogate', withSettings('{"org_url":"a\\ud800b"}')],
    ['a number out of range', withSettings('{"org_url":1e999}')],
  ];

  it.each(refused)('responds with 400 to %s', async (_name, body) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, body: { error_type: 'invalid_request', code: 400 } });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('responds with 400 to settings nested deeper than any field', async () => {
    const deep = `${'{"a":'.repeat(14)}1${'}'.repeat(14)}`;
    expect((await post(withSettings(deep))).status).toBe(400);
  });

  it('responds with 413 to more than 256 KiB, with or without Content-Length', async () => {
    const large = JSON.stringify({ name: 'x'.repeat(256 * 1024) });
    expect(await post(large)).toMatchObject({ status: 413, body: { error_type: 'payload_too_large' } });
    expect((await post('{}', { 'content-length': String(300 * 1024) })).status).toBe(413);
    const umlauts = JSON.stringify({ name: 'ü'.repeat(140 * 1024) });
    expect((await post(umlauts)).status).toBe(413);
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      },
    });
    const request = new Request(`http://service${path}`, {
      method: 'POST',
      headers: { 'x-api-key': acme.key, 'content-type': 'application/json' },
      body: endless,
      duplex: 'half',
    } as RequestInit);
    expect((await service.app.request(request)).status).toBe(413);
    expect(sent).toBeLessThan(10);
  });

  it('responds with 415 to an encoded body and to a type other than JSON', async () => {
    const body = JSON.stringify(exampleBody(typeOf('input', 'okta-systemlog')));
    for (const encoding of ['gzip', 'br', 'deflate', 'gzip, gzip', 'identity, gzip', '*']) {
      expect((await post(body, { 'content-encoding': encoding })).status, encoding).toBe(415);
    }
    const types = [
      'text/plain',
      'text/json',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
      'application/json; charset=utf-16',
      'application/merge-patch+json',
      ' ',
    ];
    for (const type of types) expect((await post(body, { 'content-type': type })).status, type).toBe(415);
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ]) {
      expect((await post(body, { 'content-type': type })).status, type).toBe(200);
    }
  });

  it('authenticates the request before it parses the body', async () => {
    const answer = await service.call('POST', path, { body: nested(100_000) });
    expect(answer.status).toBe(401);
  });

  it('responds with 404 to malformed IDs in the path', async () => {
    for (const id of ['%00', '..%2f..', '%E0%A4%A', "'--", 'x'.repeat(65), '%F0%9F%92%A9', '*', '{}']) {
      const one = await service.call('GET', `/v1/${acme.team}/inputs/${id}`, { key: acme.key });
      expect([id, one.status, one.body.error_type]).toEqual([id, 404, 'not_found']);
      const all = await service.call('GET', `/v1/${id}/inputs`, { key: acme.key });
      expect([id, all.status]).toEqual([id, 404]);
    }
  });
});

describe('read-only fields (S25)', () => {
  const planted = 'planted-1f0c';
  const values: Readonly<Record<string, unknown>> = {
    kind: 'output',
    version: 99,
    component_of: [planted],
    output_ids: [planted],
    references: { secrets: [{ id: planted }] },
    share_details: { shared_with_me: true },
  };
  const extra = Object.fromEntries(
    READ_ONLY_FIELDS.map((name) => {
      const isTime = /(?:_at|At)$/.test(name);
      return [name, values[name] ?? (isTime ? '1999-01-01T00:00:00.000Z' : planted)];
    }),
  );

  it('are ignored by all write operations', async () => {
    const { body: connector } = await service.call('POST', path, {
      key: acme.key,
      body: exampleBody(typeOf('input', 'okta-systemlog')),
    });
    const { body: output } = await service.call('POST', `/v2/${acme.team}/outputs`, {
      key: acme.key,
      body: exampleBody(typeOf('output', 'http')),
    });
    const { enrichments } = await createEnrichments(service, acme.team, acme.key);
    const { body: pipeline } = await service.call('POST', `/v2/${acme.team}/pipelines`, {
      key: acme.key,
      body: { name: 'P' },
    });
    const { body: transform } = await service.call('POST', `/v2/${acme.team}/transforms`, {
      key: acme.key,
      body: { name: 'T', config: { operations: [] } },
    });
    const { body: secret } = await service.call('POST', `/v2/${acme.team}/secrets`, {
      key: acme.key,
      body: { name: 'S', value: 'value' },
    });
    const { body: rule } = await service.call('POST', `/v3/${acme.team}/alert_rules`, {
      key: acme.key,
      body: exampleRule,
    });
    const { body: role } = await service.call('POST', `/v2/${acme.team}/roles`, {
      key: acme.key,
      body: { name: 'R', permission_ids: ['input:read'] },
    });
    const { body: key } = await service.call('POST', `/v2/${acme.team}/api_keys`, {
      key: acme.key,
      body: { name: 'K', role_id: role.id, expiration_time: '2099-01-01T00:00:00Z' },
    });
    const { body: ofParent } = await service.call('POST', `/v2/${acme.id}/outputs`, {
      key: acme.key,
      body: { name: 'O', type: 'dev-null', config: {} },
    });
    const billing = await createBilling(
      (method, url, body) => service.call(method, url, { key: acme.key, ...(body && { body }) }),
      acme.team,
    );
    const there = (example: object): object =>
      JSON.parse(JSON.stringify(example).replaceAll(EXAMPLE.input, connector.id).replaceAll(EXAMPLE.output, output.id));
    const member = await signedInUser(service, acme.team, 'reader');
    const newcomer = await signedInUser(service, acme.id, 'reader');
    // A replay stores nothing, and needs an engine. An edge is changed without a response body. A
    // consent needs a vendor's client.
    const others = ['replayDeadLetters', 'startOAuth', 'switchPipelineEdge'];
    const writes = (await operationsOf(service.app)).filter(
      ({ example, id, isPublic, isOperator }) =>
        example && !id.endsWith('Connection') && !others.includes(id) && !isPublic && !isOperator,
    );
    expect(writes.length).toBeGreaterThan(8);
    for (const operation of writes) {
      const own = {
        ...(operation.idFields.includes('organization_id') && { organization_id: acme.team }),
        ...(operation.idFields.includes('user_id') && { user_id: newcomer.id }),
        // A quota is either of an organization or of an account.
        ...(operation.idFields.includes('billing_account_id') && { billing_account_id: undefined }),
        ...(operation.idFields.includes('product_id') && { product_id: billing['products'] }),
      };
      const at = operation.path
        .replace('{org}', acme.team)
        .replace('{parent_org}', acme.id)
        .replace('inputs/{id}', `inputs/${connector.id}`)
        .replace('outputs/{id}', `outputs/${output.id}`)
        .replace('enrichments/{id}', `enrichments/${enrichments}`)
        .replace('pipelines/{id}', `pipelines/${pipeline.id}`)
        .replace('transforms/{id}', `transforms/${transform.id}`)
        .replace('alert_rules/{id}', `alert_rules/${rule.id}`)
        .replace('secrets/{id}', `secrets/${secret.id}`)
        .replace('accounts/{id}', `accounts/${billing['accounts']}`)
        .replace('{billing_role}', billing['billing_roles'] ?? '')
        .replace('products/{id}', `products/${billing['products']}`)
        .replace('quotas/{id}', `quotas/${billing['quotas']}`)
        .replace('roles/{id}', `roles/${role.id}`)
        .replace('users/{id}', `users/${member.id}`)
        .replace('api_keys/{id}', `api_keys/${key.id}`)
        .replace('organizations/{id}', `organizations/${acme.team}`)
        .replace('{resource_type}/{resource_id}', `component/${ofParent.id}`);
      const sent = { ...extra, ...there(operation.example ?? {}), ...own };
      const answer = await service.call(operation.method, at, { key: acme.key, body: sent });
      expect([operation.id, answer.status], answer.text).toEqual([operation.id, expect.closeTo(200, -1)]);
      expect([operation.id, answer.text]).toEqual([
        operation.id,
        expect.not.stringMatching(/planted|1999-01-01|"version":99/),
      ]);
      for (const name of ['digest', 'permission', 'organizationid']) {
        const refused = await service.call(operation.method, at, { key: acme.key, body: { ...sent, [name]: planted } });
        expect([operation.id, refused.status, refused.body.additional_details.issues]).toEqual([
          operation.id,
          400,
          [{ path: `/${name}`, message: 'Unknown.' }],
        ]);
      }
    }
  });
});
