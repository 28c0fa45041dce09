import { mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startSshd, type Sshd } from '../../../../test/support/brokers/sshd.js';
import { outputContext } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, type DataRecord, type JsonValue, type PageInput } from '@connector-frame/engine/connector-api';
import { sftpInput, sftpOutput } from './index.js';

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = new AbortController().signal;

// Against a real OpenSSH server.
let server: Sshd;
beforeAll(async () => {
  server = await startSshd();
}, 30_000);
afterAll(() => server.close());

async function folderFor(name: string): Promise<string> {
  const folder = join(server.folder, name);
  await mkdir(folder);
  return folder;
}
const settingsFor = (folder: string, changes: object = {}): Record<string, unknown> => ({
  host: '127.0.0.1',
  port: server.port,
  username: server.user,
  folder_path: folder,
  destination_path: folder,
  host_key: server.fingerprint,
  ...changes,
});

class TestInput {
  /** Starts some minutes ago: files that are older are not read. */
  now = Date.now() - 600_000;
  cursor: JsonValue | undefined;
  readonly #input: PageInput;

  constructor(folder: string) {
    const clock = { now: () => this.now, sleep: () => Promise.resolve() };
    const config = { settings: settingsFor(folder), secrets: { credentials: server.key } };
    const input = sftpInput.createInput?.(config, { ...outputContext('output:sftp', egress), clock });
    if (input?.kind !== 'pages') throw new Error('no input');
    this.#input = input;
    onTestFinished(() => input.close?.());
  }

  async read(): Promise<DataRecord[]> {
    const found: DataRecord[] = [];
    for await (const page of this.#input.pages(this.cursor, signal)) {
      found.push(...page.records);
      this.cursor = page.cursor;
    }
    return found;
  }
}

describe('input', () => {
  test('reads new files once, by the format of their ending, and no others', async () => {
    const folder = await folderFor('in');
    const input = new TestInput(folder);
    expect(await input.read()).toEqual([]);
    const path = (name: string): string => join(folder, name);
    await writeFile(path('a.jsonl'), '{"n":1}\n{"n":2}');
    await writeFile(path('b.csv'), 'name,n\nada,3\n');
    await writeFile(path('c.json.gz'), gzipSync('[{"n":4},{"n":5}]'));
    await writeFile(path('ü "d".log'), '{"n":6}');
    await writeFile(path('.hidden'), '{"n":7}');
    await writeFile(path('e.json.part'), '{"n":8}');
    await mkdir(path('folder.json'));
    await symlink('/etc/hostname', path('link.json'));
    input.now = Date.now() + 120_000;
    const found = await input.read();
    expect(found.map(({ n }) => Number(n)).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await input.read()).toEqual([]);
    await rename(path('e.json.part'), path('e.json'));
    expect(await input.read()).toEqual([{ n: 8 }]);
    await server.restart();
    await writeFile(path('f.json'), '{"n":9}');
    input.now += 120_000;
    expect(await input.read()).toEqual([{ n: 9 }]);
  });

  test('leaves a file that may still be written until it has not changed for a listing', async () => {
    const folder = await folderFor('growing');
    const input = new TestInput(folder);
    await input.read();
    input.now = Date.now();
    const file = join(folder, 'a.jsonl');
    await writeFile(file, '{"n":1}\n{"n"');
    expect(await input.read()).toEqual([]);
    await writeFile(file, '{"n":1}\n{"n":2}\n');
    expect(await input.read()).toEqual([]);
    expect(await input.read()).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await input.read()).toEqual([]);
  });

  test('reads a large file in pages', async () => {
    const folder = await folderFor('large');
    const input = new TestInput(folder);
    await input.read();
    const lines = Array.from({ length: 20_000 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(100) }));
    await writeFile(join(folder, 'a.jsonl'), lines.join('\n'));
    const before = new Date(Date.now() - 300_000);
    await utimes(join(folder, 'a.jsonl'), before, before);
    input.now = Date.now();
    expect((await input.read()).map(({ n }) => n)).toEqual(lines.map((_line, n) => n));
  });
});

const write = async (settings: Record<string, unknown>, id: string, lines: string[]) => {
  const output = sftpOutput.createOutput?.(
    { settings, secrets: { password: server.key } },
    outputContext('output:sftp', egress),
  );
  onTestFinished(() => output?.close?.());
  await output?.open?.(signal);
  return output?.write(createBatch(id, lines), signal);
};

describe('output', () => {
  test('writes a file of complete lines, and replaces it when the batch is repeated', async () => {
    const folder = await folderFor('out');
    await write(settingsFor(`${folder}/`), 'batch-1', ['{"n":1}']);
    await write(settingsFor(folder), 'batch-1', ['{"n":1}', '{"n":2}']);
    await write(settingsFor(folder), 'batch-2', ['{"n":3}']);
    expect((await readdir(folder)).toSorted()).toEqual(['records-batch-1.json', 'records-batch-2.json']);
    expect(await readFile(join(folder, 'records-batch-1.json'), 'utf8')).toBe('{"n":1}\n{"n":2}\n');
  });

  test('a folder that does not exist is a permanent error', async () => {
    await expect(write(settingsFor('/none'), 'b', ['{}'])).rejects.toMatchObject({
      code: 'not_found',
      kind: 'permanent',
    });
  });
});

const tested = (changes: object, credentials: string = server.key) =>
  sftpInput.testConnection?.(
    { settings: settingsFor(server.folder, changes), secrets: { credentials } },
    { egress, signal },
  );

describe('signing in', () => {
  test('works with the fingerprint of the host, with one that ends with =, and without one', async () => {
    for (const host_key of [server.fingerprint, `${server.fingerprint.replace('SHA256:', '')}=`, undefined])
      expect(await tested({ host_key })).toMatchObject({ ok: true });
  });

  test('explains failures', async () => {
    expect(await tested({}, 'password')).toMatchObject({ reason: 'invalid_credentials' });
    expect(
      await tested({}, '-----BEGIN OPENSSH PRIVATE KEY-----\nbroken\n-----END OPENSSH PRIVATE KEY-----'),
    ).toMatchObject({
      reason: 'invalid_config',
    });
    expect(await tested({ folder_path: '/none' })).toMatchObject({ reason: 'not_found' });
  });

  test('sends the password to no server with another key', async () => {
    const passwords: string[] = [];
    const { private: key } = ssh2.utils.generateKeyPairSync('ed25519');
    const other = new ssh2.Server({ hostKeys: [key] }, (client) => {
      client.on('error', () => undefined);
      client.on('authentication', (context) => {
        if (context.method === 'password') passwords.push(context.password);
        if (context.method === 'keyboard-interactive')
          context.prompt([{ prompt: 'Password:', echo: false }], (answers) => {
            passwords.push(...answers);
            context.reject();
          });
        else context.reject(['keyboard-interactive']);
      });
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = Object(other.address());
    expect(await tested({ port }, 'canary')).toMatchObject({
      reason: 'tls_failed',
      issues: [{ path: '/settings/host_key' }],
    });
    expect(passwords).toEqual([]);
    // The control: without a fingerprint, it gets both kinds.
    expect(await tested({ port, host_key: undefined }, 'canary')).toMatchObject({ reason: 'invalid_credentials' });
    expect(new Set(passwords)).toEqual(new Set(['canary']));
  });
});
