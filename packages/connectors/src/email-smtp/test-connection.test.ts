import { afterEach, beforeAll, expect, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { createCertificate, type Certificate } from '../../../../test/support/certificate.js';
import { undeclaredFields } from '../../../../test/support/declared-fields.js';
import { runTester } from '../../../../test/support/run-tester.js';
import {
  startMailServer,
  type MailServerOptions,
  type RunningMailServer,
} from '../../../../test/support/smtp-server.js';
import { testEmail } from './test-connection.js';

const user = { name: 'alerts@acme.example', password: 'canary password 0' };

let certificate: Certificate;
let server: RunningMailServer | undefined;
beforeAll(() => {
  certificate = createCertificate('127.0.0.1');
});
afterEach(() => server?.close());

async function outcome(options: MailServerOptions, settings: object = {}, secrets: object = {}) {
  server = await startMailServer(options);
  const own = { host: '127.0.0.1', port: server.port, from: 'alerts@acme.example', to: ['soc@acme.example'] };
  const config = { settings: { ...own, ...settings }, secrets: { ...secrets } };
  const result = await runTester(testEmail, config);
  expect(undeclaredFields('output:email-smtp', result)).toEqual([]);
  expect(server.received).toEqual([]);
  return result;
}
const login = (password = user.password) =>
  [{ username: user.name }, { password, ca_certificate: certificate.cert }] as const;

test('signs in, or connects without authentication, and sends no message', async () => {
  expect(await outcome({ tls: certificate, user }, ...login())).toEqual({
    ok: true,
    summary: 'Signed in to the mail server',
  });
  expect(await outcome({})).toEqual({ ok: true, summary: 'Connected to the mail server' });
});

test('reports a wrong password on its field', async () => {
  expect(await outcome({ tls: certificate, user }, ...login('wrong'))).toMatchObject({
    reason: 'invalid_credentials',
    issues: [{ path: '/secrets/password' }],
  });
});

test('reports a server without encryption, and a certificate that is not trusted', async () => {
  expect(await outcome({ user }, ...login())).toMatchObject({ reason: 'tls_failed' });
  const [settings] = login();
  expect(await outcome({ tls: certificate, user }, settings, { password: 'x' })).toMatchObject({
    reason: 'tls_failed',
  });
});

test('reports settings that do not fit together', async () => {
  expect(await outcome({}, { username: 'x' })).toMatchObject({ issues: [{ path: '/secrets/password' }] });
  expect(await outcome({}, { encryption: 'none', username: 'x' }, { password: 'x' })).toMatchObject({
    reason: 'invalid_config',
    issues: [{ path: '/settings/encryption' }],
  });
});

test('rejects a closed address before it connects', async () => {
  server = await startMailServer();
  const settings = { host: '127.0.0.1', port: server.port, from: 'a@acme.example', to: ['b@acme.example'] };
  const { signal } = new AbortController();
  const result = await testEmail({ settings, secrets: {} }, { egress: createEgress({ allow: [] }), signal });
  expect(result).toMatchObject({ reason: 'egress_refused', issues: [{ path: '/settings/host' }] });
  expect(server.connections()).toBe(0);
});

test('gives up when its time is over', async () => {
  server = await startMailServer({ more: { onConnect: () => undefined } });
  const settings = { host: '127.0.0.1', port: server.port, from: 'a@acme.example', to: ['b@acme.example'] };
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const stop = new AbortController();
  const testing = testEmail({ settings, secrets: {} }, { egress, signal: stop.signal });
  stop.abort();
  expect(await testing).toMatchObject({ ok: false, reason: 'timeout' });
});
