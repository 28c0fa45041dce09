/** S36: only the user that runs the service can read the files under DATA_DIR. */
import { chmod, link, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeForm } from '../../../test/support/form-assets.js';
import { long } from '../../../test/support/long.js';
import { listenHttp, type WebListener } from '../../../test/support/listener.js';
import { API_KEY, operatorsEnvironment } from '../../../test/support/operator.js';
import {
  buildService,
  MAIN,
  mainFile,
  mustStart,
  runService,
  startService,
} from '../../../test/support/service-process.js';
import { protectFolder } from './store/private-folder.js';
import { Customer } from './testing/customer.js';
import { startReceiver, type Receiver } from './testing/receiver.js';
import { callerOf } from './testing/service-child.js';

let form: Awaited<ReturnType<typeof writeForm>>;
let receiver: Receiver;
let refusing: WebListener;
let folder: string;
let data: string;
let environment: Record<string, string>;

beforeAll(async () => {
  buildService();
  form = await writeForm();
  receiver = await startReceiver();
  // Only some records: a server that refuses everything makes no dead letters.
  refusing = await listenHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.once('end', () => response.writeHead(/"n":\d*77\}/.test(body) ? 400 : 200).end());
  });
});
afterAll(async () => {
  await form.remove();
  await receiver.close();
  await refusing.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-folder-'));
  data = join(folder, 'made', 'by', 'the-service');
  environment = {
    ...operatorsEnvironment(data, form.folder),
    FILE_OUTPUT_DIR: join(data, 'files'),
    EGRESS_ALLOW: '127.0.0.1/32',
  };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/**
 * Lists the entries of a folder whose mode is not 0600 (files) or 0700 (folders), and counts its
 * files and folders.
 */
async function walk(path: string): Promise<{ open: string[]; files: number; folders: number }> {
  const found = { open: [] as string[], files: 0, folders: 0 };
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  for (const place of [path, ...entries.map((entry) => join(entry.parentPath, entry.name))]) {
    const stats = await lstat(place).catch(() => undefined);
    if (!stats) continue;
    const mode = stats.mode & 0o777;
    found[stats.isDirectory() ? 'folders' : 'files'] += 1;
    if (mode !== (stats.isDirectory() ? 0o700 : 0o600)) found.open.push(`${mode.toString(8)} ${place}`);
  }
  return found;
}

/** Starts the service inside another program, with that program's umask. */
const embeddedIn = (umask: string): string[] => {
  const index = pathToFileURL(MAIN.replace(/main\.js$/, 'index.js')).href;
  const script = `
    process.umask(${umask});
    const { createServer } = await import('${index}');
    const server = await createServer();
    process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
  `;
  return [process.execPath, '--input-type=module', '-e', script];
};
const withUmask = (umask: string): string[] => [
  'sh',
  '-c',
  `umask ${umask} && exec "$0" "$@"`,
  process.execPath,
  mainFile(),
];

/** Starts the service, makes it write every kind of file, and stops it. */
async function use(command: readonly string[]): Promise<{ during: string[]; after: string[]; files: number }> {
  const service = await mustStart(environment, command);
  const call = callerOf(service.url, API_KEY);
  const customer = new Customer();
  await customer.setUp(call, receiver);
  // The syslog pipeline creates a certificate when it starts. Records that an output rejects become
  // dead letters.
  const path = `/v2/${customer.org}`;
  const syslog = await call('POST', `${path}/inputs`, { name: 'S', type: 'monad-syslog', config: { settings: {} } });
  await call('POST', `${path}/integrations`, { input_id: syslog?.['id'], name: 'Syslog' });
  const settings = { endpoint: refusing.origin, method: 'POST', payload_structure: 'array' };
  const output = { type: 'http', config: { settings } };
  expect(
    await call('POST', `${path}/integrations`, { input_id: customer.input, name: 'Refused', output }),
  ).toBeDefined();
  const sent = receiver.at('/pushed');
  const before = sent.counts.size;
  const work = customer.work(call, service.url);
  await expect.poll(() => sent.counts.size - before).toBeGreaterThan(100);
  const written = () => readdir(join(data, 'files'), { recursive: true });
  await expect.poll(written).toContainEqual(expect.stringContaining('pushed.ndjson'));
  const letters = () => readdir(join(data, 'engine', 'pipelines'), { recursive: true });
  await expect.poll(letters).toContainEqual(expect.stringContaining('dead'));
  const during = await walk(data);
  await work.stop();
  service.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  const after = await walk(data);
  return { during: during.open, after: after.open, files: after.files };
}

const modeOf = async (path: string): Promise<string> => ((await lstat(path)).mode & 0o7777).toString(8);

const commands: [name: string, command: readonly string[]][] = [
  ['umask 0 in the process of another program', embeddedIn('0o000')],
];
if (long) commands.push(['umask 0', withUmask('000')], ['umask 0777', withUmask('777')]);

describe('DATA_DIR (S36)', () => {
  it.each(commands)('contains only files with mode 0600 and folders with mode 0700: %s', async (_name, command) => {
    const { during, after, files } = await use(command);
    expect([during, after]).toEqual([[], []]);
    expect(files).toBeGreaterThan(500);
    expect((await readdir(data)).toSorted()).toEqual([
      'engine',
      'files',
      'master.key',
      'postgres',
      'service.lock.reserve-1',
      'service.lock.reserve-2',
    ]);
    const names = ['engine.json', 'streams', 'syslog.pem', 'syslog-certificate.pem'];
    expect(await readdir(join(data, 'engine'))).toEqual(expect.arrayContaining(names));

    // Simulate a restored backup that lost the file modes.
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o777 : 0o666);
    }
    await chmod(data, 0o777);
    const again = await mustStart(environment);
    expect((await walk(data)).open).toEqual([]);
    again.kill('SIGTERM');
    expect(await again.exited).toBe(0);
  });

  if (long) {
    it('gets its modes from the bootstrap command, too', async () => {
      await mkdir(data, { recursive: true });
      await chmod(data, 0o777);
      runService(['bootstrap', 'Northwind'], environment);
      expect((await walk(data)).open).toEqual([]);
    });
  }

  it('is rejected and left unchanged if it is a shared folder such as /tmp', async () => {
    await mkdir(data, { recursive: true });
    await chmod(data, 0o1777);
    const refused = await startService(environment);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is a folder that users share') });
    expect((await lstat(data)).mode & 0o7777).toBe(0o1777);
    expect(await readdir(data)).toEqual([]);
  });
});

describe('protectFolder (S36)', () => {
  beforeEach(() => mkdir(data, { recursive: true }));

  it('does not change files that the service did not create', async () => {
    await writeFile(join(data, 'mine'), '');
    await writeFile(join(data, 'notes'), '');
    await chmod(join(data, 'mine'), 0o664);
    await chmod(join(data, 'notes'), 0o664);
    protectFolder(data, (name) => name === 'mine');
    expect([await modeOf(data), await modeOf(join(data, 'mine')), await modeOf(join(data, 'notes'))]).toEqual([
      '700',
      '600',
      '664',
    ]);
  });

  it('does not change the target of a link, and rejects a link to a target that others can read', async () => {
    const outside = join(folder, 'outside');
    await mkdir(outside, { mode: 0o700 });
    await writeFile(join(outside, 'file'), '', { mode: 0o644 });
    await symlink(outside, join(data, 'private'));
    protectFolder(data);
    expect(await modeOf(join(outside, 'file'))).toBe('644');
    await symlink(join(outside, 'file'), join(data, 'open'));
    expect(() => protectFolder(data)).toThrow(/open is a link to .*, which other users can read. Set its mode to 0600/);
    expect(await modeOf(join(outside, 'file'))).toBe('644');
    await rm(join(data, 'open'));
    await symlink(join(outside, 'nowhere'), join(data, 'dangling'));
    protectFolder(data);
  });

  it('accepts a link to the folder', async () => {
    await symlink(data, join(folder, 'link'));
    await chmod(data, 0o755);
    protectFolder(join(folder, 'link'));
    expect(await modeOf(data)).toBe('700');
  });

  it('rejects a readable file with a hard link elsewhere', async () => {
    await writeFile(join(folder, 'elsewhere'), '');
    await chmod(join(folder, 'elsewhere'), 0o644);
    await link(join(folder, 'elsewhere'), join(data, 'planted'));
    expect(() => protectFolder(data)).toThrow(/planted can be read by other users and has another name elsewhere/);
    expect(await modeOf(join(folder, 'elsewhere'))).toBe('644');
  });

  it.skipIf(process.getuid?.() !== 0)(
    'throws an error if the folder belongs to another user (needs root)',
    async () => {
      await chmod(folder, 0o755);
      await chmod(join(folder, 'made'), 0o755);
      await chmod(join(folder, 'made', 'by'), 0o755);
      await chmod(data, 0o777);
      const { seteuid } = process;
      if (!seteuid) throw new Error('no seteuid');
      seteuid(65_534);
      try {
        expect(() => protectFolder(data)).toThrow(
          /the-service can be read by other users, and its mode can't be changed. Give it to the user/,
        );
      } finally {
        seteuid(0);
      }
    },
  );
});
