import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { startKafkaBroker } from '../../../../test/support/kafka-broker.js';
import { listenHttp, listenTcp } from '../../../../test/support/listener.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const TOKEN = 'Bearer kept-and-never-told';
const PASSWORD = 'kept-and-never-told';

/**
 * Starts an HTTPS server with an untrusted certificate that records the Authorization headers it
 * receives.
 */
async function startImpostor() {
  const seen: string[] = [];
  const listener = await listenHttp(
    (request, response) => {
      seen.push(String(request.headers.authorization));
      request.resume().once('end', () => response.end());
    },
    '127.0.0.1',
    createCertificate('127.0.0.1'),
  );
  return { ...listener, seen };
}
const httpConfig = (endpoint: string, changes: object = {}) => ({
  settings: { endpoint, method: 'POST', payload_structure: 'array', ...changes },
});

/**
 * An attacker controls the servers that a connector reaches: only its transport settings protect
 * the secret (S32, S33).
 */
describe('a stored secret and a machine-in-the-middle (S32)', () => {
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({
      database: await anyDatabase().open(),
      egressAllow: ['127.0.0.1/32'],
      run: { limits: { grace: 500 } },
    });
    acme = await service.tenant('Northwind');
  });
  afterAll(() => service.close());

  const call = (method: string, path: string, body?: object) =>
    service.call(method, `/v2/${acme.team}${path}`, { key: acme.key, ...(body && { body }) });
  const create = async (kind: string, body: object): Promise<string> => {
    const made = await call('POST', `/${kind}`, { name: 'Kept', ...body });
    if (typeof made.body.id !== 'string') throw new Error(made.text);
    return made.body.id;
  };
  const script = (sql: string) => service.database.script((run) => run(sql));

  const headers = { auth_headers: { value: { Authorization: TOKEN } } };

  it('is not sent after a test or an edit that accepts any certificate', async () => {
    const impostor = await startImpostor();
    const config = httpConfig(impostor.origin);
    const id = await create('outputs', { type: 'http', config: { ...config, secrets: headers } });
    const test = (changes: object, secrets: object = {}) =>
      call('POST', '/outputs/test-connection', {
        type: 'http',
        config: { ...httpConfig(impostor.origin, changes), secrets },
        id,
      });
    // With the saved settings, the connector itself rejects the impostor's certificate.
    expect(await test({})).toMatchObject({ status: 400, body: { error_type: 'test_failed' } });
    expect(impostor.seen).toEqual([]);

    const dialed = impostor.connections();
    const weaker = httpConfig(impostor.origin, { tls_skip_verify: true });
    for (const answer of [
      await test({ tls_skip_verify: true }),
      await call('PATCH', `/outputs/${id}`, { config: weaker }),
      await call('PUT', `/outputs/${id}`, { name: 'Kept', config: weaker }),
    ])
      expect([answer.status, answer.body.error_type]).toEqual([422, 'secret_reentry_required']);
    expect([impostor.connections(), impostor.seen]).toEqual([dialed, []]);

    // Control: with the secret entered again, the impostor receives it.
    expect((await test({ tls_skip_verify: true }, headers)).status).toBe(200);
    expect(impostor.seen).toEqual([TOKEN]);
    await impostor.close();
  });

  it.each([
    ['sets tls_skip_verify', (_origin: string) => ({ tls_skip_verify: true })],
    ['changes the endpoint', (origin: string) => ({ endpoint: origin, tls_skip_verify: true })],
  ])('is not sent by the engine after someone with database access %s', async (_name, changes) => {
    const [impostor, elsewhere] = [await startImpostor(), await startImpostor()];
    const config = httpConfig(impostor.origin);
    const input_id = await create('inputs', { type: 'monad-http', config: { settings: {} } });
    const output = { type: 'http', config: { ...config, secrets: headers } };
    const built = await call('POST', '/integrations', { input_id, name: 'P', output });
    const { pipeline_id: pipeline, output_id: id } = built.body;
    const status = async () => (await call('GET', `/pipelines/${pipeline}/status`)).body;
    await expect.poll(status).toMatchObject({ status: 'Running' });

    const evil = JSON.stringify(changes(elsewhere.origin));
    await script(`update connectors set settings = settings || '${evil}' where id = '${id}'`);
    await call('PATCH', `/outputs/${id}`, { description: 'The engine reads it again.' });
    await expect.poll(status).toMatchObject({
      status: 'Erroring',
      last_error: { code: 'secret_destination_mismatch' },
    });
    const pointers = Object.keys(JSON.parse(evil)).map((key) => `/settings/${key}`);
    expect((await status()).last_error.message).toBe(
      `The settings of output are not the ones its secret auth_headers was saved for: ${pointers.join(', ')}. Check them, then enter the secret again.`,
    );
    expect(await service.engine?.append(input_id, ['{"n":1}'])).toMatchObject({ stored: true });
    await expect.poll(status).toMatchObject({ waiting: 1 });
    expect([impostor.seen, elsewhere.seen, elsewhere.connections()]).toEqual([[], [], 0]);

    // Entering the secret again confirms the address: the secret is sent there, and the waiting
    // record is delivered.
    const { settings } = (await service.store.connectors.get(acme.team, 'output', id)) ?? {};
    const entered = await call('PATCH', `/outputs/${id}`, { config: { settings, secrets: headers } });
    expect(entered.status, entered.text).toBe(200);
    await expect.poll(status).toMatchObject({ status: 'Running', waiting: 0 });
    expect([...impostor.seen, ...elsewhere.seen]).toEqual([TOKEN]);
    await Promise.all([impostor.close(), elsewhere.close()]);
  });

  it('is not sent to a Kafka broker after TLS or SCRAM is turned off', async () => {
    const broker = await startKafkaBroker({ topics: { t: 1 }, users: { ada: PASSWORD } });
    const heard: Buffer[] = [];
    const middle = await listenTcp((socket) => {
      const onward = connect(broker.port, '127.0.0.1').on('error', () => socket.destroy());
      socket.on('data', (chunk: Buffer) => heard.push(chunk));
      socket.pipe(onward).pipe(socket);
    });
    const bootstrap_servers = `127.0.0.1:${middle.port}`;
    const settings = {
      bootstrap_servers,
      topic: 't',
      security_protocol: 'SASL_SSL',
      sasl_mechanism: 'SCRAM-SHA-256',
      username: 'ada',
      payload_format: 'individual',
      compression_type: 'none',
      acks: 'all',
    };
    const password = { password: { value: PASSWORD } };
    const id = await create('outputs', { type: 'kafka', config: { settings, secrets: password } });
    const test = (changes: object, secrets: object = {}) =>
      call('POST', '/outputs/test-connection', {
        type: 'kafka',
        config: { settings: { ...settings, ...changes }, secrets },
        id,
      });
    for (const changes of [
      { security_protocol: 'SASL_PLAINTEXT', sasl_mechanism: 'PLAIN' },
      { security_protocol: 'SASL_PLAINTEXT' },
      { sasl_mechanism: 'PLAIN' },
    ]) {
      const tested = await test(changes);
      const edited = await call('PATCH', `/outputs/${id}`, { config: { settings: { ...settings, ...changes } } });
      for (const answer of [tested, edited])
        expect([answer.status, answer.body.error_type]).toEqual([422, 'secret_reentry_required']);
    }
    expect([middle.connections(), Buffer.concat(heard).length]).toEqual([0, 0]);

    // Control: with the password entered again, it crosses the wire in plain text.
    const plain = { security_protocol: 'SASL_PLAINTEXT', sasl_mechanism: 'PLAIN' };
    const typed = await test(plain, password);
    expect(Buffer.concat(heard).includes(PASSWORD), typed.text).toBe(true);
    await Promise.all([middle.close(), broker.close()]);
  });
});
