import { inspect } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { createEgress, type Egress } from '@connector-frame/engine/egress';
import { createBatch, type Output } from '@connector-frame/engine/connector-api';
import { alertRecord as alert, resolvedRecord as resolved } from '../../../../test/support/alert-record.js';
import { createCertificate, type Certificate } from '../../../../test/support/certificate.js';
import { listenTcp, type Listener } from '../../../../test/support/listener.js';
import { attempt, noted, outputContext, RECORD_CANARY } from '../../../../test/support/output-attempt.js';
import { encodings } from '../../../../test/support/secret-texts.js';
import {
  replyOf,
  startMailServer,
  type MailServerOptions,
  type RunningMailServer,
} from '../../../../test/support/smtp-server.js';
import { createEmailOutput } from './output.js';

const PASSWORD = 'canary password 0';
const user = { name: 'alerts@acme.example', password: PASSWORD };

let certificate: Certificate;
let server: RunningMailServer | undefined;
let other: Listener | undefined;
beforeAll(() => {
  certificate = createCertificate('127.0.0.1');
});
afterEach(async () => {
  await server?.close();
  await other?.close();
  [server, other] = [undefined, undefined];
});

interface Changes {
  settings?: Record<string, unknown>;
  secrets?: Record<string, unknown>;
  egress?: Egress;
}

const configFor = (port: number, { settings = {}, secrets = {} }: Changes = {}) => ({
  settings: { host: '127.0.0.1', port, from: 'alerts@acme.example', to: ['soc@acme.example'], ...settings },
  secrets,
});
async function outputFor(options: MailServerOptions = {}, changes: Changes = {}): Promise<Output> {
  server = await startMailServer(options);
  return createEmailOutput(configFor(server.port, changes), outputContext('output:email-smtp', changes.egress));
}
const signedIn: Changes = {
  settings: { username: user.name },
  secrets: {
    password: PASSWORD,
    get ca_certificate() {
      return certificate.cert;
    },
  },
};
const batchOf = (...records: object[]) =>
  createBatch(
    'batch/1',
    records.map((record) => JSON.stringify(record)),
  );

test('sends the records of a batch as one message to all recipients', async () => {
  const to = ['soc@acme.example', 'on-call@acme.example'];
  const output = await outputFor({}, { settings: { to } });
  expect(await attempt(output, noted(3))).toEqual({ written: [0, 1, 2], rejected: [] });
  const [message, ...more] = server?.received ?? [];
  expect(more).toEqual([]);
  expect(message).toMatchObject({ from: 'alerts@acme.example', to, isSecure: false });
  const { mail } = message ?? {};
  expect([mail?.subject, mail?.headers.get('auto-submitted')]).toEqual(['3 records', 'auto-generated']);
  const parts = (mail?.text ?? '').split(/\n-{60}\n/).map((part): unknown => JSON.parse(part));
  expect(parts).toEqual([0, 1, 2].map((n) => ({ n, note: RECORD_CANARY })));
});

test('a message that is sent again has the same Message-ID', async () => {
  const output = await outputFor();
  await attempt(output, batchOf({ n: 0 }));
  await attempt(output, batchOf({ n: 0 }));
  await attempt(output, noted(1));
  const [first, second, third] = (server?.received ?? []).map(({ mail }) => mail.messageId);
  expect(first).toMatch(/^<[\w-]+@acme\.example>$/);
  expect([second === first, third === first]).toEqual([true, false]);
});

describe('alerts', () => {
  it('say in the subject what happened, and are shown together', async () => {
    const output = await outputFor();
    await attempt(output, batchOf(alert));
    await attempt(output, batchOf({ ...alert, fired_at: alert.fired_at + 14_400 }));
    await attempt(output, batchOf(resolved));
    const mails = (server?.received ?? []).map(({ mail }) => mail);
    expect(mails.map(({ subject }) => subject)).toEqual([
      '[high] FIRING: Errors',
      '[high] STILL FIRING: Errors',
      '[high] RESOLVED: Errors',
    ]);
    expect(new Set(mails.map(({ inReplyTo }) => inReplyTo)).size).toBe(1);
    expect(mails[2]?.text).toContain('From 2030-01-01 00:00:00 UTC to 2030-01-01 00:03:00 UTC');
    expect(mails[0]?.text).toContain(alert.description);
  });

  it('that wait for each other are counted in the subject', async () => {
    await attempt(await outputFor(), batchOf(alert, resolved, { ...alert, id: 'b' }));
    expect(server?.received[0]?.mail.subject).toBe('3 alerts: 2 firing, 1 resolved');
  });
});

test('a record can neither add headers, nor end the message, nor make the service read a file', async () => {
  const name = 'A\r\nBcc: evil@example.com\r\n\r\n.\r\n';
  const record = { ...alert, name, path: '/etc/passwd', href: 'http://127.0.0.1:1/' };
  await attempt(await outputFor(), batchOf({ ...record, text: { path: '/etc/passwd' } }, { dots: '.\r\n.\r\nQUIT' }));
  await attempt(await outputFor(), batchOf(record));
  expect(server?.received).toHaveLength(1);
  const { mail, to } = server?.received[0] ?? {};
  expect([to, mail?.bcc, mail?.subject]).toEqual([
    ['soc@acme.example'],
    undefined,
    expect.stringContaining('Bcc: evil'),
  ]);
  expect(mail?.attachments).toEqual([]);
});

describe('encryption', () => {
  it.each([
    ['TLS from the start', { secure: true }, { encryption: 'tls' }],
    ['STARTTLS that is required', {}, { encryption: 'starttls' }],
    ['STARTTLS, which a password requires', {}, {}],
  ])('%s: signs in and sends over TLS', async (_name, options, settings) => {
    const changes = { ...signedIn, settings: { ...signedIn.settings, ...settings } };
    const output = await outputFor({ tls: certificate, user, ...options }, changes);
    expect(await attempt(output, noted(1))).toEqual({ written: [0], rejected: [] });
    expect(server?.received).toMatchObject([{ isSecure: true, user: user.name }]);
  });

  it('is used without a password where the server offers it', async () => {
    const { secrets } = signedIn;
    const output = await outputFor({ tls: certificate }, { secrets: { ca_certificate: secrets?.['ca_certificate'] } });
    await attempt(output, noted(1));
    expect(server?.received).toMatchObject([{ isSecure: true, user: undefined }]);
  });

  it('can be turned off, but not with a password', async () => {
    await attempt(await outputFor({ tls: certificate }, { settings: { encryption: 'none' } }), noted(1));
    expect(server?.received).toMatchObject([{ isSecure: false }]);
    await server?.close();
    const changes = { ...signedIn, settings: { ...signedIn.settings, encryption: 'none' } };
    await expect(outputFor({}, changes)).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('sends no password to a server without STARTTLS', async () => {
    let logins = 0;
    const output = await outputFor({ user, more: { onAuth: () => void (logins += 1) } }, signedIn);
    const { failure } = await attempt(output, noted(1));
    expect([failure?.code, failure?.kind, logins]).toEqual(['tls_failed', 'permanent', 0]);
  });

  it.each([
    ['from the start', { encryption: 'tls' }, { secure: true }],
    ['with STARTTLS', { encryption: 'starttls' }, {}],
  ])('%s rejects an untrusted certificate before it signs in', async (_name, settings, options) => {
    let logins = 0;
    const more = { onAuth: () => void (logins += 1) };
    const changes = { settings: { ...signedIn.settings, ...settings }, secrets: { password: PASSWORD } };
    const { failure } = await attempt(await outputFor({ tls: certificate, user, more, ...options }, changes), noted(1));
    expect([failure?.code, failure?.kind, logins]).toEqual(['tls_failed', 'permanent', 0]);
  });

  it('rejects a certificate of another host', async () => {
    const foreign = createCertificate('mail.example');
    const changes = { ...signedIn, secrets: { password: PASSWORD, ca_certificate: foreign.cert } };
    const { failure } = await attempt(await outputFor({ tls: foreign, user }, changes), noted(1));
    expect(failure?.code).toBe('tls_failed');
  });
});

test('a wrong password is a permanent failure, without what the server said', async () => {
  const changes = {
    ...signedIn,
    secrets: { ...signedIn.secrets, ca_certificate: certificate.cert, password: 'wrong canary' },
  };
  const { failure, error } = await attempt(await outputFor({ tls: certificate, user }, changes), noted(1));
  expect([failure?.code, failure?.kind]).toEqual(['invalid_credentials', 'permanent']);
  const text = inspect(error, { depth: 10, showHidden: true });
  for (const encoded of encodings('wrong canary')) expect(text).not.toContain(encoded);
});

const refuseGone = (address: string) => (address.startsWith('gone') ? replyOf(550) : undefined);
const refuseFirst = (raw: string) => (/"n": 1\b/.test(raw) ? replyOf(552) : undefined);

describe('a server that refuses', () => {
  it('the sender is a failure of the connector', async () => {
    const output = await outputFor({ sender: () => replyOf(550) });
    expect((await attempt(output, noted(1))).failure).toMatchObject({ code: 'rejected', kind: 'permanent' });
  });

  it('all recipients is a failure of the connector', async () => {
    const output = await outputFor({ recipient: () => replyOf(550) });
    expect((await attempt(output, noted(1))).failure).toMatchObject({ code: 'rejected', kind: 'permanent' });
  });

  it('one recipient for now gets that one the message later, and the others once', async () => {
    let isListed = false;
    const to = ['a@acme.example', 'grey@acme.example'];
    const recipient = (address: string) => (address.startsWith('grey') && !isListed ? replyOf(450) : undefined);
    const output = await outputFor({ recipient }, { settings: { to } });
    expect((await attempt(output, noted(1))).failure).toMatchObject({ kind: 'retry' });
    isListed = true;
    expect(await attempt(output, noted(1))).toEqual({ written: [0], rejected: [] });
    expect(server?.received.map((each) => each.to)).toEqual([['a@acme.example'], ['grey@acme.example']]);
  });

  it('one recipient permanently does not keep the message from the others, and shows in the dead letters', async () => {
    const to = ['gone@acme.example', 'a@acme.example'];
    const output = await outputFor({ recipient: refuseGone }, { settings: { to } });
    const { written, rejected } = await attempt(output, noted(2));
    expect([written, rejected]).toEqual([
      [],
      [0, 1].map((n) => ({ n, reason: 'The mail server accepts 1 of 2 recipients never.' })),
    ]);
    expect(server?.received.map((each) => each.to)).toEqual([['a@acme.example']]);
  });

  it('the message of one record rejects that record', async () => {
    const { written, rejected } = await attempt(await outputFor({ message: refuseFirst }), noted(3));
    expect([written, rejected.map(({ n }) => n)]).toEqual([[0, 2], [1]]);
  });

  it.each([421, 450, 451, 452])('with %i is tried again', async (code) => {
    const output = await outputFor({ message: () => replyOf(code) });
    expect((await attempt(output, noted(1))).failure).toMatchObject({ kind: 'retry' });
  });
});

test('retries a refused connection, and one that closes', async () => {
  server = await startMailServer();
  const output = createEmailOutput(configFor(server.port), outputContext('output:email-smtp'));
  await server.close();
  expect((await attempt(output, noted(1))).failure).toMatchObject({ code: 'connect_failed', kind: 'retry' });
  other = await listenTcp((socket) => void socket.end('220 hello\r\n'));
  const closing = createEmailOutput(configFor(other.port), outputContext('output:email-smtp'));
  expect((await attempt(closing, noted(1))).failure).toMatchObject({ code: 'connect_failed', kind: 'retry' });
});

test('notices a server that does not speak SMTP', async () => {
  other = await listenTcp((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const output = createEmailOutput(configFor(other.port), outputContext('output:email-smtp'));
  expect((await attempt(output, noted(1))).failure).toMatchObject({ code: 'unexpected_answer' });
});

test('rejects a closed address before it connects', async () => {
  const output = await outputFor({}, { egress: createEgress({ allow: [] }) });
  expect((await attempt(output, noted(1))).failure).toMatchObject({ code: 'egress_refused', kind: 'permanent' });
  expect(server?.connections()).toBe(0);
});

test('ends a hanging write when its signal is aborted', async () => {
  const accepted: unknown[] = [];
  other = await listenTcp((socket) => accepted.push(socket));
  const output = createEmailOutput(configFor(other.port), outputContext('output:email-smtp'));
  const stop = new AbortController();
  const writing = attempt(output, noted(1), stop.signal).then(
    () => 'written',
    () => 'ended',
  );
  await expect.poll(() => accepted.length).toBe(1);
  stop.abort();
  expect(await writing).toBe('ended');
});

test.each([
  [{ to: [] }, {}],
  [{ username: 'x' }, {}],
  [{}, { password: 'x' }],
  [{}, { ca_certificate: 'no certificate' }],
])('can’t run with the settings %j and the secrets %j', (settings, secrets) => {
  const create = () => createEmailOutput(configFor(25, { settings, secrets }), outputContext('output:email-smtp'));
  expect(create).toThrow(expect.objectContaining({ code: 'invalid_config', kind: 'permanent' }));
});
