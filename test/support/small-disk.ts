import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Commands that create a mount namespace: as root, or with a user namespace. */
const unshareCommands = [
  ['unshare', '--mount'],
  ['unshare', '--map-root-user', '--mount'],
] as const;
const MOUNT = 'mount -t tmpfs -o "size=$1,mode=700" tmpfs "$0"';

const usable = unshareCommands.find(
  ([program, ...args]) =>
    spawnSync(program, [...args, 'sh', '-c', `${MOUNT} && nsenter --help`, tmpdir(), '65536'], { stdio: 'ignore' })
      .status === 0,
);

/** Whether this machine can mount a file system for a test (Linux, root or user namespaces). */
export const canMount = usable !== undefined;

/** A real file system of a few megabytes (tmpfs), visible to this test only. */
export interface SmallDisk {
  /** Path of the file system for this process. */
  readonly folder: string;
  /** Path of the file system for a process that was started with `command`. */
  readonly path: string;
  /** Command that runs a program with the file system. */
  readonly command: readonly string[];
  /**
   * Fills the file system with another file.
   * @param leave bytes to leave free
   */
  fill(leave?: number): Promise<void>;
  /** Deletes the file of `fill`. */
  free(): Promise<void>;
  remount(mode: 'ro' | 'rw'): void;
  close(): Promise<void>;
}

/** Mounts a file system of `bytes` in a mount namespace of its own. */
export async function mountSmallDisk(bytes: number): Promise<SmallDisk> {
  if (!usable) throw new Error('This machine cannot mount a file system.');
  const [program, ...args] = usable;
  const path = await mkdtemp(join(tmpdir(), 'small-disk-'));
  const script = `${MOUNT} && echo mounted && exec cat`;
  const keeper = spawn(program, [...args, 'sh', '-c', script, path, String(bytes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    keeper.stdout.once('data', () => resolve());
    keeper.once('exit', () => reject(new Error('The file system could not be mounted.')));
  });
  const ended = new Promise<void>((resolve) => keeper.once('exit', () => resolve()));
  const { pid } = keeper;
  const user = [...args].some((arg) => arg === '--map-root-user') ? ['--user', '--preserve-credentials'] : [];
  const command = ['nsenter', '--target', String(pid), ...user, '--mount', '--'];
  const folder = `/proc/${pid}/root${path}`;
  const filler = join(folder, 'filler');
  return {
    folder,
    path,
    command,

    async fill(leave = 0) {
      const file = await open(filler, 'a', 0o600);
      try {
        for (const size of [65_536, 4_096]) {
          const block = Buffer.alloc(size);
          for (;;) {
            const { bytesWritten } = await file.write(block).catch(() => ({ bytesWritten: 0 }));
            if (bytesWritten === 0) break;
          }
        }
        if (leave > 0) await file.truncate(Math.max(0, (await file.stat()).size - leave));
      } finally {
        await file.close();
      }
    },

    free: () => rm(filler, { force: true }),

    remount(mode) {
      const [nsenter = '', ...rest] = command;
      const { status } = spawnSync(nsenter, [...rest, 'mount', '-o', `remount,${mode}`, path], { stdio: 'inherit' });
      if (status !== 0) throw new Error(`The file system could not be remounted: ${mode}.`);
    },

    async close() {
      keeper.stdin.end();
      await ended;
      if ((await readdir(path)).length === 0) await rm(path, { recursive: true });
    },
  };
}
