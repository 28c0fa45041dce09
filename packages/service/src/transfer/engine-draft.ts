import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '@connector-frame/engine';
import { writeEngineIdentity } from '../pipelines/running/engine-lease.js';
import { unseal } from '../secrets/cipher.js';
import type { MasterKey } from '../secrets/master-key.js';
import type { MasterKeys } from '../secrets/vault.js';
import { lockFolder } from '../store/folder-lock.js';
import { isEngineFile, isUsed } from './engine-files.js';
import { SEAL_PURPOSE, sealContext } from './format.js';
import type { ExportEvent } from './read-export.js';
import { TransferError } from './transfer-error.js';

/** The engine's folder of an import until everything is in it. */
export interface EngineDraft {
  /** Number of files. */
  readonly files: number;
  /** Whether it has the name of the engine's folder. */
  readonly isMoved: boolean;
  /**
   * Writes the files of an export, and returns the event of its first table. Everything is on disk
   * when this resolves.
   */
  write(
    events: AsyncGenerator<ExportEvent>,
    keys: MasterKeys,
    signal: AbortSignal | undefined,
  ): Promise<ExportEvent | undefined>;
  /** Names the engine that the buffers are of, and the database. */
  identify(engine: string | null, database: string): Promise<void>;
  /** Renames it to the engine's folder. */
  moveInto(): Promise<void>;
  /** Removes it, unless it was moved. */
  discard(): Promise<void>;
}

/** Creates the folder, and removes what an interrupted import has left in it. */
export async function createEngineDraft(folder: string): Promise<EngineDraft> {
  const path = `${folder}.import`;
  const lock = await lockFolder(path, { what: path, advice: 'Another import writes it. Wait until it has ended.' });
  for (const name of await readdir(path))
    if (!name.startsWith('service.lock')) await rm(join(path, name), { recursive: true, force: true });
  const folders = new Set([path]);
  let files = 0;
  let hasEngine = false;
  let isMoved = false;

  async function create(name: string): Promise<FileHandle> {
    if (!isEngineFile(name)) throw new TransferError(`The export has a file that no engine has: ${name}.`);
    const target = join(path, name);
    for (let parent = dirname(target); !folders.has(parent); parent = dirname(parent)) folders.add(parent);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    files += 1;
    return open(target, 'wx', 0o600);
  }

  return {
    get files() {
      return files;
    },
    get isMoved() {
      return isMoved;
    },

    async write(events, keys, signal) {
      for (;;) {
        signal?.throwIfAborted();
        // Not `for await`, which would end the generator.
        const next = await events.next();
        if (next.done === true || next.value.event === 'table') {
          for (const each of folders) await syncFolder(each);
          return next.done === true ? undefined : next.value;
        }
        if (next.value.event !== 'file') continue;
        const { path: name, sealedBy } = next.value;
        const handle = await create(name);
        try {
          await copy(events, handle, sealedBy === undefined ? undefined : openerOf(name, keyOf(keys, sealedBy)));
          await handle.datasync();
        } finally {
          await handle.close();
        }
      }
    },

    async identify(engine, database) {
      if (engine === null) return;
      hasEngine = true;
      await writeEngineIdentity(path, { engine, database });
      await syncFolder(path);
    },

    async moveInto() {
      await lock.release();
      if (!hasEngine) return;
      if (await isUsed(folder)) throw new TransferError(`${folder} is not empty any more.`);
      // What a lock has left there.
      await rm(folder, { recursive: true, force: true });
      await rename(path, folder);
      isMoved = true;
      await syncFolder(dirname(folder));
    },

    async discard() {
      if (isMoved) return;
      await lock.release();
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** Writes the data of one file. */
async function copy(
  events: AsyncGenerator<ExportEvent>,
  handle: FileHandle,
  openSealed: ((sealed: Buffer) => Buffer) | undefined,
): Promise<void> {
  const sealed: Buffer[] = [];
  for (;;) {
    const next = await events.next();
    if (next.done === true || next.value.event !== 'data') break;
    if (openSealed) sealed.push(next.value.bytes);
    else await handle.appendFile(next.value.bytes);
  }
  if (openSealed) await handle.appendFile(openSealed(Buffer.concat(sealed)));
}

const openerOf = (name: string, key: MasterKey) => (sealed: Buffer) =>
  unseal(key.derive(SEAL_PURPOSE), sealContext(name), sealed);

function keyOf({ current, previous }: MasterKeys, id: string): MasterKey {
  const key = [current, previous].find((each) => each?.id === id);
  if (!key) throw new TransferError(`A file of the export needs master key ${id}. Set MASTER_KEY_PREVIOUS to it.`);
  return key;
}
