import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tenant } from './sign-in.js';

/** Data that the host product stores: its API key, and the team of each customer. */
export interface HostRecord {
  apiKey: string;
  /** Parent organization of the teams. */
  organizationId: string;
  tenants: readonly Tenant[];
}

const fileIn = (folder: string) => join(folder, 'host.json');

/** Returns the record of an earlier start, or `undefined` if there is none. */
export async function readRecord(folder: string): Promise<HostRecord | undefined> {
  try {
    return JSON.parse(await readFile(fileIn(folder), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${fileIn(folder)} can't be read. Repair it, or remove it to create a new API key.`, {
      cause: error,
    });
  }
}

/**
 * Writes the record atomically, readable only by the current user because it contains the API key.
 */
export async function writeRecord(folder: string, record: HostRecord): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const half = `${fileIn(folder)}.new`;
  await writeFile(half, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(half, fileIn(folder));
}
