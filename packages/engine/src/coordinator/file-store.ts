import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '../files/durable.js';
import { isErrno } from '../files/is-errno.js';
import { isRecord, type JsonValue } from '../connector-api/record.js';
import type { Store, Stored } from './store.js';

/**
 * Creates a store with one small file per key, for one process at a time. A new value is written to
 * a temporary file that replaces the old one, so that a crash leaves either the old value or the
 * new one.
 */
export function createFileStore(folder: string): Store {
  const queues = new Map<string, Promise<unknown>>();

  /** Serializes reads and writes of one key. */
  function serialize<T>(key: string, work: () => Promise<T>): Promise<T> {
    const call = (queues.get(key) ?? Promise.resolve()).then(work);
    const settled = call
      .catch(() => undefined)
      .finally(() => {
        if (queues.get(key) === settled) queues.delete(key);
      });
    queues.set(key, settled);
    return call;
  }

  const pathOf = (key: string): string => join(folder, `${encodeURIComponent(key)}.json`);

  async function read(key: string): Promise<Stored | undefined> {
    try {
      const saved: unknown = JSON.parse(await readFile(pathOf(key), 'utf8'));
      if (isRecord(saved) && typeof saved['version'] === 'number' && saved['value'] !== undefined)
        return { version: saved['version'], value: saved['value'] };
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    }
    throw new Error(`${pathOf(key)} does not hold what was written there.`);
  }

  return {
    get: (key) => serialize(key, () => read(key)),
    compareAndSet: (key: string, version: number, value: JsonValue) =>
      serialize(key, async () => {
        if (((await read(key))?.version ?? 0) !== version) return undefined;
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await replaceFile(pathOf(key), JSON.stringify({ version: version + 1, value }));
        await syncFolder(folder);
        return version + 1;
      }),
    async removeAll(prefix) {
      const names = await readdir(folder).catch((error: unknown) => {
        if (isErrno(error, 'ENOENT')) return [];
        throw error;
      });
      for (const name of names) {
        if (!name.endsWith('.json')) continue;
        const key = decodeURIComponent(name.slice(0, -5));
        if (key.startsWith(prefix)) await serialize(key, () => rm(join(folder, name), { force: true }));
      }
    },
  };
}
