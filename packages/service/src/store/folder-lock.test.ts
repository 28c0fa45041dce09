import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderInUseError, lockFolder } from './folder-lock.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const path = () => join(folder, 'service.lock');
const write = (holder: object) =>
  writeFile(path(), JSON.stringify({ pid: 1, host: hostname(), started: 'x', since: 'then', ...holder }));

/** Returns `undefined` for a file that has been removed in the meantime. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the id of a process that has exited. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid ?? 0;
}

describe('lockFolder (R09)', () => {
  it('holds a folder for one, and says who holds it', async () => {
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUseError);
    await expect(lockFolder(folder)).rejects.toThrow(`process ${process.pid} on ${hostname()}`);
    await expect(lockFolder(folder)).rejects.toThrow('DATABASE_URL');
    await lock.release();
    await (await lockFolder(folder)).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes over from a process that is dead', async () => {
    await write({ pid: await deadPid() });
    const lock = await lockFolder(folder);
    expect(JSON.parse(await readFile(path(), 'utf8')).pid).toBe(process.pid);
    await lock.release();
  });

  it('takes over when the process id belongs to another process by now', async () => {
    await write({ pid: process.pid, started: 'another boot/1' });
    await (await lockFolder(folder)).release();
  });

  it('takes over from another host only when it has been silent for long', async () => {
    await write({ host: 'a-container-that-was' });
    await expect(lockFolder(folder)).rejects.toThrow('a-container-that-was');
    const long = new Date(Date.now() - 31_000);
    await utimes(path(), long, long);
    await (await lockFolder(folder)).release();
  });

  it('takes over from half a file, once nobody can be writing it', async () => {
    await writeFile(path(), '{"pid":');
    await expect(lockFolder(folder)).rejects.toThrow('just starting');
    const long = new Date(Date.now() - 11_000);
    await utimes(path(), long, long);
    await (await lockFolder(folder)).release();
  });

  it('lets one of many win a dead lock', async () => {
    await write({ pid: await deadPid() });
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    const winners = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(winners).toHaveLength(1);
    await winners[0]?.release();
  });

  it('gets past a takeover that was cut short', async () => {
    await write({ pid: await deadPid() });
    await writeFile(`${path()}.takeover`, '');
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUseError);
    const long = new Date(Date.now() - 11_000);
    await utimes(`${path()}.takeover`, long, long);
    await (await lockFolder(folder)).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('gets past a takeover whose process was killed, at once and one of many', async () => {
    const dead = { pid: await deadPid(), host: hostname(), started: 'x', since: 'then' };
    for (const left of ['', '.takeover', '.takeover.takeover']) await writeFile(path() + left, JSON.stringify(dead));
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    const winners = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(winners).toHaveLength(1);
    await winners[0]?.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('has its name on it whenever it is there, so that a kill at any moment leaves a lock of somebody', async () => {
    const ended = new AbortController();
    const cycles = (async () => {
      for (let cycle = 0; cycle < 50; cycle += 1) await (await lockFolder(folder)).release();
    })().finally(() => ended.abort());
    const seen = new Set<string>();
    // Samples the lock between any two steps of the cycles.
    while (!ended.signal.aborted) {
      const text = textOf(path());
      if (text !== undefined) seen.add(text);
      await new Promise(setImmediate);
    }
    await cycles;
    expect(seen.size).toBeGreaterThan(0);
    for (const text of seen) expect(JSON.parse(text)).toMatchObject({ pid: process.pid });
  });

  it('clears away what a process wrote that was killed before it had the lock', async () => {
    await writeFile(`${path()}.6f9619ff-8b86-d011-b42d-00c04fc964ff.draft`, '{"pid":');
    await (await lockFolder(folder)).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('fails while another process is taking over the lock', async () => {
    await write({ pid: await deadPid() });
    const lock = await lockFolder(await mkdtemp(join(folder, 'other-')));
    const other = await readdir(folder);
    const held = await readFile(join(folder, other.find((name) => name.startsWith('other-')) ?? '', 'service.lock'));
    await writeFile(`${path()}.takeover`, held);
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUseError);
    await lock.release();
  });

  it('leaves alone a lock that is not its own any more', async () => {
    const lock = await lockFolder(folder);
    await write({ pid: 1, host: 'someone-else' });
    await lock.release();
    expect((await stat(path())).isFile()).toBe(true);
  });

  it('makes the folder for its owner only', async () => {
    const inner = join(folder, 'a', 'b');
    const lock = await lockFolder(inner);
    expect((await stat(inner)).mode & 0o777).toBe(0o700);
    await lock.release();
  });
});
