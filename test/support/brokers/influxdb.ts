import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface Influx {
  origin: string;
  user: string;
  password: string;
  /** Returns the rows of a query as objects. */
  query(query: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const user = 'logs';
const password = 'canary "password" 0008';

/** Starts a real InfluxDB 1 that requires a password, with the database `security`. */
export async function startInflux(): Promise<Influx> {
  const folder = await mkdtemp(join(tmpdir(), 'influxdb-'));
  const port = await freePort(2);
  const config = join(folder, 'influxdb.conf');
  await writeFile(
    config,
    `reporting-disabled = true
bind-address = "127.0.0.1:${port + 1}"
[meta]
  dir = "${folder}/meta"
[data]
  dir = "${folder}/data"
  wal-dir = "${folder}/wal"
[http]
  bind-address = "127.0.0.1:${port}"
  auth-enabled = true
  log-enabled = false
[monitor]
  store-enabled = false
`,
  );
  const server = await startServer('influxd', ['-config', config], port, 'apt-get install influxdb');
  const origin = `http://127.0.0.1:${port}`;
  const ask = async (q: string, db = 'security'): Promise<unknown> => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const body = new URLSearchParams({ q, db, epoch: 'ns' });
    const response = await fetch(`${origin}/query`, { method: 'POST', headers: { authorization }, body });
    return JSON.parse(await response.text());
  };
  await ask(`CREATE USER ${user} WITH PASSWORD '${password}' WITH ALL PRIVILEGES`);
  await ask('CREATE DATABASE security');
  return {
    origin,
    user,
    password,
    async query(query) {
      const body = (await ask(query)) as { results: { series?: { columns: string[]; values: unknown[][] }[] }[] };
      return (body.results[0]?.series ?? []).flatMap(({ columns, values }) =>
        values.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
      );
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
