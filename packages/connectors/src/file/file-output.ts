import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { ConnectorError, failureOf, LineFile, type Output, WRITTEN } from '@connector-frame/engine/connector-api';

export interface FileOutputOptions {
  /**
   * Absolute path of the active file: `/data/events.ndjson`. Full files are next to it:
   * `events.000001.ndjson`.
   */
  path: string;
  /** Maximum size of a file in bytes. Default 64 MiB. */
  maxBytes?: number;
  /** Number of full files to keep, the newest ones. Default: all. */
  keepFiles?: number;
}

/**
 * Creates an output that appends records as NDJSON to a local file. A batch is synced to disk
 * before it is acknowledged.
 *
 * @example
 * ```ts
 * const output = createFileOutput({ path: '/data/events.ndjson', keepFiles: 10 });
 * ```
 */
export function createFileOutput({ path, maxBytes = 64 * 1024 * 1024, keepFiles }: FileOutputOptions): Output {
  const file = new LineFile(path, maxBytes, (full) => archive(full, keepFiles));
  return {
    async write(batch) {
      try {
        await file.append(batch.lines);
        return WRITTEN;
      } catch (error) {
        const { code } = failureOf(error);
        throw new ConnectorError('file', `The file could not be written (${code}).`, 'retry', undefined, {
          cause: error,
        });
      }
    },
  };
}

async function archive(path: string, keepFiles: number | undefined): Promise<void> {
  const suffix = extname(path);
  const stem = basename(path, suffix);
  const numbers = (await readdir(dirname(path)))
    .filter((name) => name.startsWith(`${stem}.`) && name.endsWith(suffix))
    .map((name) => name.slice(stem.length + 1, name.length - suffix.length))
    .filter((number) => /^\d{6,}$/.test(number))
    .map(Number)
    .sort((a, b) => a - b);
  const nameOf = (number: number): string => join(dirname(path), `${stem}.${String(number).padStart(6, '0')}${suffix}`);
  await rename(path, nameOf((numbers.at(-1) ?? 0) + 1));
  if (keepFiles === undefined) return;
  for (const number of numbers.slice(0, Math.max(0, numbers.length + 1 - keepFiles)))
    await rm(nameOf(number), { force: true });
}
