import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { masterKey, readMasterKey, type MasterKey } from './master-key.js';
import { isErrno } from '../is-errno.js';

/**
 * Returns the path of the master key file that is kept beside the embedded database and that only
 * its owner can read.
 */
export const keyFile = (folder: string): string => join(folder, 'master.key');

/** Returns `undefined` if there is no key file. */
export async function readKeyFile(folder: string): Promise<MasterKey | undefined> {
  try {
    return readMasterKey(await readFile(keyFile(folder), 'utf8'));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Creates a key file, and syncs it to disk before anything is sealed with the key. Never overwrites
 * one.
 */
export async function createKeyFile(folder: string): Promise<MasterKey> {
  const bytes = randomBytes(32);
  const file = await open(keyFile(folder), 'wx', 0o600);
  try {
    await file.writeFile(`${bytes.toString('base64')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return masterKey(bytes);
}
