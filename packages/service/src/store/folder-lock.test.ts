import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canMount, mountSmallDisk, type SmallDisk } from '../../../../test/support/small-disk.js';
import { FolderInUseError, lockFolder } from './folder-lock.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const path = () => join(folder, 'service.lock');
const write = (holder: object) =>
  writeFile(path(), JSON.stringify({ pid: 1, host: hostname(), started: 'x', since: 'then', ...holder }));

/** Files in the folder, except those that hold space for the next lock. */
const leftovers = async () => (await readdir(folder)).filter((name) => !/^service\.lock\.reserve-[12]$/.test(name));

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
  it('locks a folder once and names the holder in the error', async () => {
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUseError);
    await expect(lockFolder(folder)).rejects.toThrow(`process ${process.pid} on ${hostname()}`);
    await expect(lockFolder(folder)).rejects.toThrow('DATABASE_URL');
    await lock.release();
    await (await lockFolder(folder)).release();
    expect(await leftovers()).toEqual([]);
  });

  it('takes over the lock of a dead process', async () => {
    await write({ pid: await deadPid() });
    const lock = await lockFolder(folder);
    expect(JSON.parse(await readFile(path(), 'utf8')).pid).toBe(process.pid);
    await lock.release();
  });

  it('takes over if the process ID now belongs to another process', async () => {
    await write({ pid: process.pid, started: 'another boot/1' });
    await (await lockFolder(folder)).release();
  });

  it('takes over the lock of another host only if it was not updated for 30 seconds', async () => {
    await write({ host: 'a-container-that-was' });
    await expect(lockFolder(folder)).rejects.toThrow('a-container-that-was');
    const long = new Date(Date.now() - 31_000);
    await utimes(path(), long, long);
    await (await lockFolder(folder)).release();
  });

  it('takes over an incomplete lock file after 10 seconds', async () => {
    await writeFile(path(), '{"pid":');
    await expect(lockFolder(folder)).rejects.toThrow('just starting');
    const long = new Date(Date.now() - 11_000);
    await utimes(path(), long, long);
    await (await lockFolder(folder)).release();
  });

  it('grants the lock of a dead process to one of many concurrent callers', async () => {
    await write({ pid: await deadPid() });
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    const winners = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(winners).toHaveLength(1);
    await winners[0]?.release();
  });

  it('recovers from an interrupted takeover after 10 seconds', async () => {
    await write({ pid: await deadPid() });
    await writeFile(`${path()}.takeover`, '');
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUseError);
    const long = new Date(Date.now() - 11_000);
    await utimes(`${path()}.takeover`, long, long);
    await (await lockFolder(folder)).release();
    expect(await leftovers()).toEqual([]);
  });

  it('recovers from the takeover of a killed process, for one of many concurrent callers', async () => {
    const dead = { pid: await deadPid(), host: hostname(), started: 'x', since: 'then' };
    for (const left of ['', '.takeover', '.takeover.takeover']) await writeFile(path() + left, JSON.stringify(dead));
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    const winners = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(winners).toHaveLength(1);
    await winners[0]?.release();
    expect(await leftovers()).toEqual([]);
  });

  it('never leaves a lock file without its holder', async () => {
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

  it('removes the draft of a process that was killed before it had the lock', async () => {
    await writeFile(`${path()}.6f9619ff-8b86-d011-b42d-00c04fc964ff.draft`, '{"pid":');
    await (await lockFolder(folder)).release();
    expect(await leftovers()).toEqual([]);
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

  it('does not release a lock that another process has taken over', async () => {
    const lock = await lockFolder(folder);
    await write({ pid: 1, host: 'someone-else' });
    await lock.release();
    expect((await stat(path())).isFile()).toBe(true);
  });

  it('creates the folder with mode 0700', async () => {
    const inner = join(folder, 'a', 'b');
    const lock = await lockFolder(inner);
    expect((await stat(inner)).mode & 0o777).toBe(0o700);
    await lock.release();
  });
});

describe.runIf(canMount)('lockFolder on a full disk (tmpfs)', () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = await mountSmallDisk(200_000);
    folder = join(disk.folder, 'data');
  });
  afterEach(() => disk.close());

  it('locks a folder again after a clean stop and after kills', async () => {
    await (await lockFolder(folder)).release();
    for (let round = 0; round < 5; round += 1) {
      await disk.fill();
      await (await lockFolder(folder)).release();
      await disk.fill();
      const lock = await lockFolder(folder);
      // What a killed process leaves.
      const content = JSON.parse(await readFile(path(), 'utf8'));
      await lock.release();
      await rename(join(folder, 'service.lock.reserve-1'), path());
      const file = await open(path(), 'r+');
      await file.write(JSON.stringify({ ...content, pid: await deadPid() }).padEnd(1024), 0);
      await file.close();
    }
    await disk.fill();
    const lock = await lockFolder(folder);
    expect(JSON.parse(await readFile(path(), 'utf8')).pid).toBe(process.pid);
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUseError);
    await lock.release();
    expect(await leftovers()).toEqual([]);
  });

  it('fails with the error of the system in a folder that was never locked', async () => {
    await mkdir(folder);
    await disk.fill();
    await expect(lockFolder(folder)).rejects.toThrow('ENOSPC');
    expect(await readdir(folder)).toEqual([]);
    await disk.free();
    await (await lockFolder(folder)).release();
  });
});
