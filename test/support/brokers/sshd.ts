import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface Sshd {
  port: number;
  user: string;
  /** The user's private key. */
  key: string;
  /** SHA-256 of the server's key, as `ssh-keygen` prints it. */
  fingerprint: string;
  /** A folder that the user may read and write. */
  folder: string;
  /** Ends all connections, and starts again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const run = promisify(execFile);

/** Starts a real OpenSSH server that lets the current user in with a key, for SFTP alone. */
export async function startSshd(): Promise<Sshd> {
  const base = await mkdtemp(join(tmpdir(), 'sshd-'));
  const path = (name: string): string => join(base, name);
  const port = await freePort();
  const folder = path('files');
  await mkdir(folder);
  // Its privilege separation needs this folder.
  await mkdir('/run/sshd', { recursive: true });
  for (const name of ['host', 'user']) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)]);
  const { stdout } = await run('ssh-keygen', ['-lf', path('host.pub')]);
  await writeFile(path('authorized'), await readFile(path('user.pub')));
  await writeFile(
    path('sshd_config'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${path('host')}
PidFile none
AuthorizedKeysFile ${path('authorized')}
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
ForceCommand internal-sftp
`,
  );
  const start = () =>
    startServer('/usr/sbin/sshd', ['-D', '-e', '-f', path('sshd_config')], port, 'apt-get install openssh-server');
  let server = await start();
  return {
    port,
    user: userInfo().username,
    key: await readFile(path('user'), 'utf8'),
    fingerprint: stdout.split(' ')[1] ?? '',
    folder,
    async restart() {
      await server.kill();
      server = await start();
    },
    async close() {
      await server.kill();
      await rm(base, { recursive: true, force: true });
    },
  };
}
