import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection } from 'mysql2/promise';
import { startServer } from './brokers/start-server.js';
import { createCertificate } from './certificate.js';
import { freePort } from './free-port.js';

export interface Mariadb {
  port: number;
  /** Certificate authority of its certificate for `localhost`; it has none without TLS. */
  ca: string;
  /** A connection of the user `root`, without a password. */
  admin: Connection;
  close(): Promise<void>;
}

const ADVICE = 'apt-get install mariadb-server';

/** Starts a real MariaDB on a free port of 127.0.0.1, in a temporary folder. */
export async function startMariadb({ tls = true }: { tls?: boolean } = {}): Promise<Mariadb> {
  const folder = mkdtempSync(join(tmpdir(), 'mariadb-'));
  const data = `--datadir=${join(folder, 'data')}`;
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const { cert, key } = createCertificate('localhost');
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin`;
  try {
    execFileSync(
      'mariadb-install-db',
      ['--no-defaults', data, ...user, '--auth-root-authentication-method=normal', '--skip-test-db'],
      { env: { PATH: path }, stdio: 'pipe' },
    );
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`No MariaDB here. Install it: ${ADVICE}.`, { cause: error });
  }
  const port = await freePort();
  const options = [
    '--no-defaults',
    data,
    ...user,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    '--innodb-buffer-pool-size=16M',
    '--innodb-flush-log-at-trx-commit=0',
    '--max-allowed-packet=64M',
    ...(tls ? [`--ssl-cert=${join(folder, 'cert.pem')}`, `--ssl-key=${join(folder, 'key.pem')}`] : ['--skip-ssl']),
  ];
  const server = await startServer('mariadbd', options, port, ADVICE);
  const admin = await createConnection({ host: '127.0.0.1', port, user: 'root', multipleStatements: true });
  return {
    port,
    ca: cert,
    admin,
    close: async () => {
      await admin.end().catch(() => undefined);
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
