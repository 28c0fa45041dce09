import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { report } from './lib.mjs';

const BOUND = 250;
/** Garbage of the start is collected by then. */
const REST_MS = 30_000;

/** Returns the ids of a process and of all its descendants. */
async function treeOf(pid) {
  const parents = new Map();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    parents.set(Number(name), Number(stat.split(') ').at(-1)?.split(' ')[1]));
  }
  const tree = [pid];
  for (const id of tree) for (const [child, parent] of parents) if (parent === id) tree.push(child);
  return tree;
}

/** Returns the memory of a process in megabytes; pages that processes share count once in all. */
async function memoryOf(pid) {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
}

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
    const total = each.reduce((sum, one) => sum + one, 0);
    const [own = 0] = each;
    const told = `${total.toFixed(0)} MB (Node.js ${own.toFixed(0)}, PostgreSQL ${(total - own).toFixed(0)})`;
    report('memory of npm start while nothing happens', told, `at most ${BOUND} MB`, total <= BOUND);
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    await rm(folder, { recursive: true, force: true });
  }
}
