import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../is-errno.js';

/**
 * What an export does with an entry of the engine's folder. `seal`: a file with a secret, which is
 * encrypted by the master key.
 */
const ENTRIES: Readonly<Record<string, 'copy' | 'seal' | 'leave'>> = {
  /** Buffered batches, and the position of each output. */
  streams: 'copy',
  /** Dead letters. */
  pipelines: 'copy',
  /** Usage that is not in the database yet. */
  usage: 'copy',
  'pipeline-logs.ndjson': 'copy',
  'syslog-certificate.pem': 'copy',
  /** With the private key. */
  'syslog.pem': 'seal',
  /** The import writes another one. */
  'engine.json': 'leave',
};

export interface EngineFile {
  /** Below the engine's folder, with `/`. */
  path: string;
  isSealed: boolean;
}

/** Locks, and files that were being replaced. */
const isTransient = (name: string): boolean => name.startsWith('service.lock') || name.endsWith('.new');

/** Returns whether a folder has anything that an engine has left. */
export async function isUsed(folder: string): Promise<boolean> {
  return (await entriesOf(folder)).some(({ name }) => !isTransient(name));
}

/**
 * Yields the files of an engine that has stopped.
 * @param onUnknown called with the name of each entry that does not belong to the engine
 */
export async function* engineFilesIn(folder: string, onUnknown: (name: string) => void): AsyncGenerator<EngineFile> {
  for (const entry of await entriesOf(folder)) {
    const decision = isTransient(entry.name) ? 'leave' : ENTRIES[entry.name];
    if (decision === undefined) onUnknown(entry.name);
    else if (decision !== 'leave') yield* filesAt(folder, entry, '', decision === 'seal');
  }
}

async function* filesAt(
  folder: string,
  entry: { name: string; isFile(): boolean; isDirectory(): boolean },
  parent: string,
  isSealed: boolean,
): AsyncGenerator<EngineFile> {
  const path = parent + entry.name;
  if (entry.isFile()) yield { path, isSealed };
  if (!entry.isDirectory()) return;
  for (const each of await entriesOf(join(folder, path))) yield* filesAt(folder, each, `${path}/`, isSealed);
}

/** Returns whether an import may write a file to this path of the engine's folder. */
export function isEngineFile(path: string): boolean {
  const parts = path.split('/');
  const [entry = ''] = parts;
  const isSafe = parts.every((part) => !['', '.', '..'].includes(part) && !/[\\:\0]/.test(part));
  return isSafe && Object.hasOwn(ENTRIES, entry) && ENTRIES[entry] !== 'leave';
}

async function entriesOf(folder: string) {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
