import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDovecot, type Dovecot } from '../../../../test/support/brokers/dovecot.js';
import { outputContext } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import { ConnectorError, type DataRecord, type JsonValue, type Page } from '@connector-frame/engine/connector-api';
import { imapMailboxInput } from './index.js';
import { toRecord } from './message.js';

// Against a real Dovecot.
let server: Dovecot;
beforeAll(async () => {
  server = await startDovecot();
}, 30_000);
afterAll(() => server.close());
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = new AbortController().signal;

const configFor = (changes: object = {}, password = server.password) => ({
  settings: { server: `127.0.0.1:${server.port}`, username: server.user, is_insecure: true, ...changes },
  secrets: { password },
});

async function pagesOf(cursor: JsonValue | undefined, changes: object = {}, password?: string): Promise<Page[]> {
  const input = imapMailboxInput.createInput?.(configFor(changes, password), outputContext('output:http', egress));
  if (input?.kind !== 'pages') throw new Error('no input');
  const pages: Page[] = [];
  for await (const page of input.pages(cursor, signal)) pages.push(page);
  return pages;
}
const recordsOf = (pages: readonly Page[]): DataRecord[] => pages.flatMap(({ records }) => records);
const mail = (n: number): string => `From: Ada <ada@acme.example>
To: =?utf-8?q?J=C3=B6rg?= <jorg@acme.example>, team: a@acme.example;
Subject: =?utf-8?B?TWFpbCDDvA==?= ${n}
Message-ID: <${n}@acme.example>
Date: Tue, 10 Mar 2026 12:00:00 +0100
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Click =FC ${n}
--b
Content-Type: application/octet-stream
Content-Disposition: attachment; filename="a.bin"
Content-Transfer-Encoding: base64

AAEC
--b--
`;

describe('reading a folder', () => {
  test('begins with new messages, reads each once, and leaves them unread', async () => {
    await server.append('Reported', mail(1));
    const folder = { inbox_name: 'Reported' };
    const start = await pagesOf(undefined, folder);
    expect(recordsOf(start)).toEqual([]);
    for (let n = 2; n <= 25; n += 1) await server.append('Reported', mail(n));
    const pages = await pagesOf(start.at(-1)?.cursor, folder);
    expect(recordsOf(pages).map(({ message_id }) => message_id)).toEqual(
      Array.from({ length: 24 }, (_, index) => `<${index + 2}@acme.example>`),
    );
    expect(pages.length).toBeGreaterThan(1);
    expect(recordsOf(await pagesOf(pages.at(-1)?.cursor, folder))).toEqual([]);
    // From any page, the others follow.
    const rest = recordsOf(await pagesOf(pages[0]?.cursor, folder));
    expect(rest.length).toBe(24 - (pages[0]?.records.length ?? 0));
    expect(await server.command('SELECT Reported', 'SEARCH UNSEEN')).toMatch(/\* SEARCH 1 2 3 /);
  });

  test('reads older messages too if asked, with what they contain', async () => {
    const [first] = recordsOf(await pagesOf(undefined, { inbox_name: 'Reported', from_zero: true }));
    expect(first).toMatchObject({
      uid: 1,
      subject: 'Mail ü 1',
      from: { name: 'Ada', address: 'ada@acme.example' },
      to: [{ name: 'Jörg', address: 'jorg@acme.example' }, { address: 'a@acme.example' }],
      date: '2026-03-10T11:00:00.000Z',
      attachments: [{ filename: 'a.bin', mime_type: 'application/octet-stream', size: 3 }],
    });
    expect(first?.['text']).toEqual(expect.stringMatching(/^\s*Click ü 1\s*$/));
    expect(JSON.stringify(first)).not.toContain('AAEC');
    const settings = { inbox_name: 'Reported', from_zero: true, include_attachments: true };
    expect(recordsOf(await pagesOf(undefined, settings))[0]).toMatchObject({ attachments: [{ content: 'AAEC' }] });
  });

  test('starts over when the folder was created again, and says so', async () => {
    await server.append('Again', mail(1));
    const before = (await pagesOf(undefined, { inbox_name: 'Again' })).at(-1)?.cursor;
    await server.command('DELETE Again');
    await server.append('Again', mail(2));
    const pages = await pagesOf(before, { inbox_name: 'Again', from_zero: true });
    expect(pages[0]?.notes?.[0]?.code).toBe('folder_reset');
    expect(recordsOf(pages)).toMatchObject([{ message_id: '<2@acme.example>' }]);
  });

  test('a message that cannot be parsed does not stop the others', async () => {
    const nested = Array.from({ length: 500 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`);
    await server.append('Hostile', nested.join(''));
    await server.append('Hostile', mail(2));
    const pages = await pagesOf(undefined, { inbox_name: 'Hostile', from_zero: true });
    expect(recordsOf(pages)).toMatchObject([{ message_id: '<2@acme.example>' }]);
    expect(pages.flatMap(({ unreadable = [] }) => unreadable)).toEqual([
      { reason: 'invalid_message', found: { uid: 1 } },
    ]);
  });

  test('an empty folder has no records', async () => {
    expect(recordsOf(await pagesOf(undefined, { from_zero: true }))).toEqual([]);
  });
});

const tested = (changes: object = {}, password?: string) =>
  imapMailboxInput.testConnection?.(configFor(changes, password), { egress, signal });

describe('signing in', () => {
  test('explains failures without quoting the server', async () => {
    expect(await tested()).toMatchObject({ ok: true });
    expect(await tested({}, 'canary-wrong')).toMatchObject({ reason: 'invalid_credentials' });
    expect(await tested({ inbox_name: 'None' })).toMatchObject({ reason: 'not_found' });
    const error = await pagesOf(undefined, {}, 'canary-wrong').catch((each: unknown) => each);
    expect(error instanceof ConnectorError && error.kind).toBe('permanent');
    expect(String(error)).not.toContain('canary');
  });

  test('checks the certificate before it sends the password', async () => {
    const secure = { server: `127.0.0.1:${server.tlsPort}`, is_insecure: false };
    expect(await tested(secure)).toMatchObject({ reason: 'tls_failed' });
    // Without TLS, where it is required.
    expect(await tested({ is_insecure: false })).toMatchObject({ reason: 'tls_failed' });
  });
});

test('limits the texts and the files of a message', async () => {
  const file = `--b\nContent-Disposition: attachment; filename=a\nContent-Transfer-Encoding: base64\n\n${'AAAA'.repeat(75_000)}\n`;
  const source = `Content-Type: multipart/mixed; boundary=b\n\n--b\n\n${'x'.repeat(50_000)}\n${file}${file}--b--\n`;
  const record = await toRecord(Buffer.from(source), 1, undefined, { attachments: true, maxBody: 1_024 });
  expect(record['text']).toHaveLength(1_024);
  expect(record).toMatchObject({ truncated: true, attachments: [{ size: 225_000 }, { size: 225_000 }] });
  expect(JSON.stringify(record).length).toBeLessThan(500_000);
});
