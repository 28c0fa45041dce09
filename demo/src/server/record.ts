import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tenant } from './sign-in.js';

/** What the host product keeps on its own side: its API key, and which team belongs to which customer. */
export interface HostRecord {
  apiKey: string;
  /** Parent organization of the teams. */
  organizationId: string;
  tenants: readonly Tenant[];
}

const fileIn = (folder: string) => join(folder, 'host.json');

/** The record of an earlier start, if there is one. */
export async function readRecord(folder: string): Promise<HostRecord | undefined> {
  try {
    return JSON.parse(await readFile(fileIn(folder), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${fileIn(folder)} can't be read. Mend or remove it; a new API key is made then.`, {
      cause: error,
    });
  }
}

/** Only this user may read it: it holds the API key. */
export async function writeRecord(folder: string, record: HostRecord): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const half = `${fileIn(folder)}.new`;
  await writeFile(half, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(half, fileIn(folder));
}
