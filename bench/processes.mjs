import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds of a tick in `/proc/<pid>/stat`; Linux has a hundred a second on every common platform. */
const TICK_MS = 10;

/** Resolves to the next message of a child process. Rejects if it ends instead, and never sends one. */
export async function nextMessage(child) {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`A process of the benchmark ended with ${code}; what it printed says why.`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
    return message;
  } finally {
    over.abort();
  }
}

/** Returns the ids of a process and of all its descendants. */
export async function treeOf(pid) {
  const parents = new Map();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await statOf(name);
    parents.set(Number(name), Number(stat[1]));
  }
  const tree = [pid];
  for (const id of tree) for (const [child, parent] of parents) if (parent === id) tree.push(child);
  return tree;
}

/** Returns the memory of a process in bytes; pages that processes share count once in all. */
export async function memoryOf(pid) {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1024;
}

/** Returns the CPU time of processes in milliseconds, including children that have ended. */
export async function cpuOf(pids) {
  let ticks = 0;
  for (const pid of pids) {
    const stat = await statOf(pid);
    ticks += stat.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  }
  return ticks * TICK_MS;
}

/** Returns the bytes that processes have written to disks. Only root may read the counts of other users. */
export async function writtenBy(pids) {
  let bytes = 0;
  for (const pid of pids) {
    const io = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
    bytes += Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
  }
  return bytes;
}

/** Returns the id of the process whose command line contains a text. */
export async function findProcess(text) {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    if ((await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).includes(text)) return Number(name);
  }
  throw new Error(`No process has ${text} in its command line.`);
}

/** Fields of `/proc/<pid>/stat` from the state on; the parent is the second. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
async function statOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return (stat.split(') ').at(-1) ?? '').split(' ');
}
