import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { masterKey, readMasterKey, type MasterKey } from './master-key.js';
import { isErrno } from '../is-errno.js';

/** The master key that the embedded database keeps beside itself, readable by its owner only. */
export const keyFile = (folder: string): string => join(folder, 'master.key');

/** Undefined when there is none. */
export async function readKeyFile(folder: string): Promise<MasterKey | undefined> {
  try {
    return readMasterKey(await readFile(keyFile(folder), 'utf8'));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Makes one; it is on the disk before anything is sealed with it. Never overwrites. */
export async function makeKeyFile(folder: string): Promise<MasterKey> {
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
