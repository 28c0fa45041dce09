import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { report } from './lib.mjs';
import { memoryOf, treeOf } from './processes.mjs';

const BOUND = 250;
/** Garbage of the start is collected by then. */
const REST_MS = 30_000;
const MIB = 1024 * 1024;

/** Measures `npm start`: service, demo host and database, while nothing happens. */
export default async function memory() {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  const child = spawn(process.execPath, [fileURLToPath(new URL('../demo/dist/start.js', import.meta.url))], {
    env: { ...process.env, DATA_DIR: join(folder, 'data'), HOST_PORT: '0', SERVICE_PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
    await sleep(REST_MS);
    const tree = await treeOf(child.pid);
    const each = await Promise.all(tree.map(memoryOf));
    const total = each.reduce((sum, one) => sum + one, 0) / MIB;
    const own = (each[0] ?? 0) / MIB;
    const told = `${total.toFixed(0)} MB (Node.js ${own.toFixed(0)}, PostgreSQL ${(total - own).toFixed(0)})`;
    report('memory of npm start while nothing happens', told, `at most ${BOUND} MB`, total <= BOUND);
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    await rm(folder, { recursive: true, force: true });
  }
}
