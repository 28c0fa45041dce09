import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../free-port.js';
import { startServer } from './start-server.js';

export interface Prometheus {
  origin: string;
  /** Returns all samples of a metric: its labels, and pairs of seconds and value. */
  samples(metric: string): Promise<{ metric: Record<string, string>; values: [number, string][] }[]>;
  close(): Promise<void>;
}

/** Starts a real Prometheus that receives remote writes. */
export async function startPrometheus(): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const port = await freePort();
  await writeFile(join(folder, 'prometheus.yml'), 'scrape_configs: []\n');
  const server = await startServer(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-remote-write-receiver',
    ],
    port,
    'apt-get install prometheus',
  );
  const origin = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${origin}/-/ready`)).ok) await delay(50);
  return {
    origin,
    async samples(metric) {
      const query = new URLSearchParams({ query: `${metric}[1y]` });
      const response = await fetch(`${origin}/api/v1/query?${query}`);
      const body: { data: { result: { metric: Record<string, string>; values: [number, string][] }[] } } = JSON.parse(
        await response.text(),
      );
      return body.data.result;
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
