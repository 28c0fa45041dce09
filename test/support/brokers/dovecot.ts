import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCertificate } from '../certificate.js';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface Dovecot {
  /** Without TLS, and with STARTTLS. */
  port: number;
  /** With TLS from the start. */
  tlsPort: number;
  user: string;
  password: string;
  /** Adds a message to a folder, which is created if it does not exist. */
  append(folder: string, message: string): Promise<void>;
  /** Sends other commands as the user and returns the lines of the server. */
  command(...commands: string[]): Promise<string>;
  close(): Promise<void>;
}

const run = promisify(execFile);
const user = 'phishing@acme.example';
const password = 'canary "mail" \\ 0014';
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`;

/** Starts a real IMAP server with one user. */
export async function startDovecot(): Promise<Dovecot> {
  const folder = await mkdtemp(join(tmpdir(), 'dovecot-'));
  const path = (name: string): string => join(folder, name);
  await chmod(folder, 0o755);
  const port = await freePort(2);
  const { cert, key } = createCertificate('127.0.0.1');
  await writeFile(path('cert.pem'), cert);
  await writeFile(path('key.pem'), key);
  const hash = (await run('doveadm', ['pw', '-s', 'SHA256', '-p', password])).stdout.trim();
  await writeFile(path('users'), `${user}:${hash}\n`);
  await mkdir(path('mail'));
  // Mail is never read as root.
  const owner = userInfo().uid === 0 ? 65_534 : userInfo().uid;
  await chown(path('mail'), owner, owner);
  await writeFile(
    path('dovecot.conf'),
    `base_dir = ${path('run')}
state_dir = ${path('state')}
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${path('cert.pem')}
ssl_key = <${path('key.pem')}
disable_plaintext_auth = no
auth_mechanisms = plain login
first_valid_uid = 1
mail_location = maildir:${path('mail')}/%u
passdb {
  driver = passwd-file
  args = ${path('users')}
}
userdb {
  driver = static
  args = uid=${owner} gid=${owner} home=${path('mail')}/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${port + 1}
  }
}
`,
  );
  const server = await startServer(
    'dovecot',
    ['-F', '-c', path('dovecot.conf')],
    port,
    'apt-get install dovecot-imapd',
  );
  const command = async (...commands: string[]): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    await lineOf(socket, /^\* OK/m);
    let received = '';
    for (const [index, each] of [`LOGIN ${quoted(user)} ${quoted(password)}`, ...commands].entries())
      received += await exchange(socket, `a${index}`, each);
    socket.destroy();
    return received;
  };
  return {
    port,
    tlsPort: port + 1,
    user,
    password,
    command,
    async append(name, message) {
      const content = message.replaceAll('\n', '\r\n');
      await command(`CREATE ${quoted(name)}`, `APPEND ${quoted(name)} {${Buffer.byteLength(content)}}\r\n${content}`);
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a command, and its literal once the server asks for it. */
async function exchange(socket: Socket, tag: string, command: string): Promise<string> {
  const [first = '', ...rest] = command.split('\r\n');
  const isLiteral = /\{\d+\}$/.test(first);
  socket.write(`${tag} ${first}\r\n`);
  if (isLiteral) {
    await lineOf(socket, /^\+/m);
    socket.write(`${rest.join('\r\n')}\r\n`);
  }
  return lineOf(socket, new RegExp(`^${tag} (?:OK|NO|BAD).*\\r\\n`, 'm'));
}

const lineOf = (socket: Socket, pattern: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let received = '';
    const take = (chunk: Buffer): void => {
      received += chunk.toString();
      if (!pattern.test(received)) return;
      socket.off('data', take);
      resolve(received);
    };
    socket.on('data', take);
    socket.once('error', reject);
  });
