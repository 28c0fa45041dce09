import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { isErrno } from '../is-errno.js';

/** Another process uses the folder. The message names that process and the remedy. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
}

export interface FolderLock {
  release(): Promise<void>;
}

/** Wording of the error for a folder that is already locked. */
export interface LockMessages {
  what: string;
  advice: string;
}

const DATA_FOLDER: LockMessages = {
  what: 'The data folder',
  advice: 'Stop it first, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.',
};

interface Holder {
  pid: number;
  host: string;
  /**
   * When the process started, where the system provides it. A process id alone is ambiguous,
   * because process ids are reused.
   */
  started: string;
  since: string;
}

const LOCK = 'service.lock';
const DRAFT = '.draft';
/**
 * Files that hold space for the next locks: on a full disk, a lock is written over one of them. A
 * takeover needs two, one for its guard file.
 */
const RESERVES = [`${LOCK}.reserve-1`, `${LOCK}.reserve-2`];
/** Bytes of a lock file, padded with spaces. */
const LOCK_BYTES = 1024;
const HEARTBEAT_MS = 5_000;
/**
 * A holder on another host, such as a container that is gone, counts as dead after this long
 * without a heartbeat.
 */
const SILENCE_MS = 30_000;
const TAKEOVER_MS = 10_000;

/**
 * Locks a folder for this process: two services on one database folder would stop each other's
 * server, and PGlite does not check at all. Takes over the lock of a dead process.
 * @throws FolderInUseError
 */
export async function lockFolder(folder: string, words = DATA_FOLDER): Promise<FolderLock> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, LOCK);
  const own: Holder = {
    pid: process.pid,
    host: hostname(),
    started: startedAt(process.pid),
    since: new Date().toISOString(),
  };
  if (!(await createExclusively(path, own))) await replaceStaleLock(path, own, words);
  await clearDrafts(folder);
  await reserve(folder);

  const heartbeat = setInterval(() => {
    const now = new Date();
    // Fails only if someone removed the file by hand. This process can't repair that; the next
    // start detects it.
    void utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    release: async () => {
      clearInterval(heartbeat);
      const holder = await readHolder(path);
      if (holder && sameHolder(holder, own)) await discard(path);
    },
  };
}

/**
 * Takes over a dead lock. Of several concurrent attempts, the one that creates the guard file
 * beside the lock wins.
 */
async function replaceStaleLock(path: string, own: Holder, words: LockMessages): Promise<void> {
  const guard = `${path}.takeover`;
  // A process that was killed during a takeover leaves its guard file, which is a lock like any
  // other.
  if (!(await createExclusively(guard, own))) await replaceStaleLock(guard, own, words);
  try {
    const holder = await readHolder(path);
    if (holder ? await isAlive(path, holder) : (await silence(path)) < TAKEOVER_MS) throw inUse(path, holder, words);
    await discard(path);
    if (!(await createExclusively(path, own))) throw inUse(path, await readHolder(path), words);
  } finally {
    await discard(guard);
  }
}

/**
 * Creates the lock file together with its content, so that a process killed in between leaves no
 * lock without a holder.
 */
async function createExclusively(path: string, holder: Holder): Promise<boolean> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    await writeExclusively(draft, holder);
  } catch (error) {
    await rm(draft, { force: true });
    if (!isErrno(error, 'ENOSPC', 'EDQUOT') || !(await takeReserve(draft, holder))) throw error;
  }
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    // The process that holds the lock by now may have removed the draft.
    if (isErrno(error, 'EEXIST', 'ENOENT')) return false;
    if (!isErrno(error, 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP')) throw error;
    return createInPlace(path, holder);
  } finally {
    await discard(draft);
  }
}

/** Writes a draft over a reserved file. Returns `false` if there is none left. */
async function takeReserve(draft: string, holder: Holder): Promise<boolean> {
  for (const name of RESERVES) {
    try {
      await rename(join(dirname(draft), name), draft);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) continue;
      throw error;
    }
    const file = await open(draft, 'r+');
    try {
      await file.write(contentOf(holder), 0, LOCK_BYTES, 0);
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  }
  return false;
}

/** Creates the reserved files that are missing. On a full disk, the next start tries again. */
async function reserve(folder: string): Promise<void> {
  for (const name of RESERVES) {
    const path = join(folder, name);
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await file.writeFile(Buffer.alloc(LOCK_BYTES, ' '));
        await file.sync();
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

/** Removes a file of a lock, or keeps its space if a reserved file is missing. */
async function discard(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => RESERVES);
  const missing = RESERVES.find((name) => !names.includes(name));
  // A draft that was linked is the lock itself.
  const isLinked = (await stat(path).catch(() => undefined))?.nlink !== 1;
  if (missing === undefined || isLinked) return rm(path, { force: true });
  return rename(path, join(dirname(path), missing)).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT')) throw error;
  });
}

/** Fallback for file systems without hard links. */
async function createInPlace(path: string, holder: Holder): Promise<boolean> {
  try {
    await writeExclusively(path, holder);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Returns the content of a lock file. Padded, so that it can be written over another one. */
const contentOf = (holder: Holder): Buffer => Buffer.from(JSON.stringify(holder).padEnd(LOCK_BYTES));

async function writeExclusively(path: string, holder: Holder): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(contentOf(holder));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes the drafts of processes that were killed before they acquired the lock. */
async function clearDrafts(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith(LOCK) && each.endsWith(DRAFT)))
    await rm(join(folder, name), { force: true });
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder: Holder = JSON.parse(await readFile(path, 'utf8'));
    return holder;
  } catch {
    return undefined;
  }
}

async function isAlive(path: string, holder: Holder): Promise<boolean> {
  if (holder.host !== hostname()) return (await silence(path)) < SILENCE_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return !isErrno(error, 'ESRCH');
  }
  return holder.started === startedAt(holder.pid);
}

/**
 * Returns the boot id and start tick of a process on Linux. Elsewhere it is empty, and only the
 * process id identifies the holder.
 */
function startedAt(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    // A zombie has exited; its parent has not reaped it yet.
    return fields[0] === 'Z' ? 'ended' : `${boot}/${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}

async function silence(path: string): Promise<number> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function sameHolder(a: Holder, b: Holder): boolean {
  return a.pid === b.pid && a.host === b.host && a.started === b.started && a.since === b.since;
}

function inUse(path: string, holder: Holder | undefined, { what, advice }: LockMessages): FolderInUseError {
  const who = holder
    ? `process ${holder.pid} on ${holder.host}, since ${holder.since}`
    : 'a process that is just starting';
  return new FolderInUseError(`${what} is in use by ${who} (${path}). ${advice}`);
}
