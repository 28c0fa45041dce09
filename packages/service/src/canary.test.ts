import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseBytes, folderBytes } from '../../../test/support/canary/places.js';
import { eachDatabase } from '../../../test/support/databases.js';
import { formAssets } from '../../../test/support/form-assets.js';
import { listenHttp, type WebListener } from '../../../test/support/listener.js';
import { findLeaks } from '../../../test/support/secret-texts.js';
import {
  createTestService,
  PARENT,
  type Answer,
  type CallOptions,
  type Tenant,
  type TestService,
} from '../../../test/support/service.js';

const valueOf = (value: string) => ({ value: { 'x-key': value } });

/**
 * No response, log line, column or metric contains a secret. `canary-types.test.ts` covers every
 * connector type.
 */
describe.each(eachDatabase())('canaries on $name (S11)', (databases) => {
  const canaries = {
    map: 'canary/map "0001" ümlaut+',
    text: 'canary/text "0002" ümlaut+',
    replaced: 'canary/replaced "0003" ümlaut+',
    tested: 'canary/tested "0004" ümlaut+',
    refused: 'canary/refused "0005" ümlaut+',
    shared: 'canary/shared "0007" ümlaut+',
    rotated: 'canary/rotated "0008" ümlaut+',
    name: 'canary/in-a-map-key-0006',
  };
  const answers: string[] = [];
  let service: TestService;
  let acme: Tenant;
  let echo: WebListener;
  let session: string;
  let folder: string;

  beforeAll(async () => {
    echo = await listenHttp((request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(JSON.stringify(request.headers));
    });
    folder = await mkdtemp(join(tmpdir(), 'canary-'));
    service = await createTestService({
      database: await databases.open(),
      run: { folder },
      egressAllow: ['127.0.0.1/32'],
      form: await formAssets(),
    });
    acme = await service.tenant('Northwind');
    session = await service.session(acme);
  });
  afterAll(async () => {
    await echo.close();
    await service.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (method: string, path: string, options: CallOptions): Promise<Answer> => {
    const answer = await service.call(method, path, options);
    answers.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${answer.text}`);
    return answer;
  };

  it('do not appear in responses, logs, metrics, the database or files', async () => {
    const outputs = `/v2/${acme.team}/outputs`;
    const settings = { endpoint: echo.origin, method: 'POST', payload_structure: 'array' };
    const config = (value: string) => ({ settings, secrets: { auth_headers: { value: { 'x-key': value } } } });
    const body = (value: string) => ({ name: 'Canary', type: 'http', config: config(value) });
    const headers = { 'idempotency-key': 'canary-intent' };

    const made = await call('POST', outputs, { session, body: body(canaries.map), headers });
    expect(made.status).toBe(200);
    await call('POST', outputs, { session, body: body(canaries.map), headers });
    const path = `${outputs}/${made.body.id}`;
    await call('PATCH', path, { session, body: { config: config(canaries.replaced) } });
    await call('GET', `/v1/${acme.team}/outputs/${made.body.id}`, { session });
    await call('GET', `/v1/${acme.team}/outputs`, { key: acme.key });
    const tested = await call('POST', `${outputs}/test-connection`, { session, body: body(canaries.tested) });
    expect(tested.body.error_type).toBe('test_failed');
    await call('POST', `${outputs}/test-connection`, {
      session,
      body: { type: 'http', config: { settings }, id: made.body.id },
    });

    // A pipeline sends the secret, and the receiver echoes it in an error response.
    const key = { key: acme.key };
    const input = await call('POST', `/v2/${acme.team}/inputs`, {
      ...key,
      body: { name: 'In', type: 'monad-http', config: {} },
    });
    const integration = { input_id: input.body.id, name: 'Canary', output: { id: made.body.id } };
    const built = await call('POST', `/v2/${acme.team}/integrations`, { ...key, body: integration });
    const pipeline = `/v2/${acme.team}/pipelines/${built.body.pipeline_id}`;
    await service.engine?.append(input.body.id, ['{"n":1}']);
    const state = async () => (await call('GET', `${pipeline}/status`, key)).body;
    await expect.poll(state).toMatchObject({ status: 'Erroring', waiting: 1 });
    for (const about of ['logs', 'metrics']) await call('GET', `${pipeline}/${about}`, key);

    // A secret that two outputs share.
    const secrets = `/v2/${acme.team}/secrets`;
    const shared = await call('POST', secrets, {
      ...key,
      body: { name: 'Shared', ...valueOf(canaries.shared) },
      headers: { 'idempotency-key': 'canary-secret' },
    });
    expect(shared.status).toBe(201);
    const reference = { settings, secrets: { auth_headers: { id: shared.body.id } } };
    const user = await call('POST', outputs, { ...key, body: { name: 'User', type: 'http', config: reference } });
    expect(user.status).toBe(200);
    await call('PATCH', `${secrets}/${shared.body.id}`, { ...key, body: valueOf(canaries.rotated) });
    for (const at of ['', `/${shared.body.id}`]) await call('GET', `${secrets}${at}`, key);
    await call('DELETE', `${secrets}/${shared.body.id}`, key);
    const echoed = await call('POST', `${outputs}/test-connection`, {
      ...key,
      body: { type: 'http', config: reference },
    });
    expect(echoed.body.error_type).toBe('test_failed');

    // Rejected requests that contain a secret.
    const refused = body(canaries.refused);
    const broken: [string, string, unknown][] = [
      ['POST', outputs, { ...refused, name: '' }],
      ['POST', outputs, { ...refused, type: 'unknown' }],
      ['POST', outputs, { ...refused, config: { ...refused.config, settings: {} } }],
      ['POST', outputs, { ...refused, config: { settings, secrets: { other: { value: canaries.refused } } } }],
      ['POST', outputs, { ...refused, config: { settings, secrets: { auth_headers: canaries.refused } } }],
      ['POST', outputs, { ...refused, config: { settings, secrets: { auth_headers: { value: [canaries.refused] } } } }],
      [
        'POST',
        outputs,
        { ...refused, config: { settings, secrets: { auth_headers: { value: { [canaries.name]: '' } } } } },
      ],
      ['POST', outputs, `{"name": ${JSON.stringify(canaries.refused)}, `],
      ['PATCH', path, { config: { settings: { ...settings, endpoint: canaries.refused } } }],
      ['PUT', path, { name: 7, config: refused.config }],
      ['POST', `${outputs}?test_connection=${encodeURIComponent(canaries.refused)}`, refused],
      ['POST', `/v2/nowhere/outputs`, refused],
      ['POST', secrets, { name: 'S', value: canaries.refused, destinations: [{ type: canaries.refused }] }],
      ['POST', secrets, { name: 'S', value: [canaries.refused] }],
    ];
    for (const [method, at, sent] of broken) {
      const { status } = await call(method, at, { session, body: sent });
      expect(status, at).toBeGreaterThanOrEqual(400);
    }
    // Internal failures: an SQL statement that fails, and a sealed value that cannot be opened.
    await service.database.script((run) => run('alter table secrets rename column description to other'));
    const failed = await call('PATCH', path, { session, body: { config: config(canaries.refused) } });
    expect(failed.status).toBe(500);
    await service.database.script((run) => run('alter table secrets rename column other to description'));
    await service.database.script((run) => run('update secrets set sealed = sealed || sealed'));
    const test = { type: 'http', config: { settings }, id: made.body.id };
    expect((await call('POST', `${outputs}/test-connection`, { session, body: test })).status).toBe(422);

    await call('PATCH', path, { key: acme.key, body: { name: 'Does not open' } });
    await expect.poll(state).toMatchObject({ last_error: { code: 'secret_unreadable' } });
    await call('GET', `${pipeline}/logs`, key);
    await call('GET', `/embed/?parentOrigin=${PARENT}`, {});
    // The audit log shows these changes, and those of a key whose token is replaced.
    const created = await service.call('POST', `/v2/${acme.team}/api_keys`, {
      ...key,
      body: { name: 'K', role_id: 'reader', expiration_time: '2099-01-01T00:00:00Z' },
    });
    const again = await service.call('POST', `/v2/${acme.team}/api_keys/${created.body.id}/regenerate`, {
      ...key,
      body: {},
    });
    const audit = await call('GET', `/v3/${acme.team}/audit_logs?limit=100`, key);
    const about = new Set(audit.body.logs.map(({ resource }: { resource: { type: string } }) => resource.type));
    expect(about).toEqual(new Set(['api_key', 'input', 'output', 'pipeline', 'secret']));
    await call('GET', '/metrics', {});
    await call('GET', '/openapi.json', {});

    const [columns, files] = [await databaseBytes(service), await folderBytes(folder)];
    expect(columns.length).toBeGreaterThan(2_000);
    expect(files.length).toBeGreaterThan(100);
    expect(service.log.length).toBeGreaterThan(20);
    const places = { answers: answers.join('\n'), log: service.log.join(''), database: columns, files };
    const tokens = { created: created.body.token, again: again.body.token };
    const hidden = { ...canaries, ...tokens, key: acme.key, session };
    expect(findLeaks(hidden, places)).toEqual([]);
  });
});
