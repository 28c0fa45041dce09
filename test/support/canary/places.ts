/** Reads everything a service has written, to search it for secrets. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestService } from '../service.js';

const SEPARATOR = Buffer.from('\n');

/** Returns every column of every row of the database: text as it is, binary as bytes. */
export async function databaseBytes({ database }: Pick<TestService, 'database'>): Promise<Buffer> {
  const tables = await database.script((run) =>
    run(`select table_name as name from information_schema.tables where table_schema = 'public'`),
  );
  const parts: Buffer[] = [];
  for (const { name } of tables) {
    for (const row of await database.script((run) => run(`select * from ${String(name)}`))) {
      for (const value of Object.values(row)) {
        parts.push(
          value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(JSON.stringify(value) ?? ''),
          SEPARATOR,
        );
      }
    }
  }
  return Buffer.concat(parts);
}

/** Returns the names and contents of all files below a folder. */
export async function folderBytes(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const parts: Buffer[] = [];
  for (const entry of entries) {
    parts.push(Buffer.from(join(entry.parentPath, entry.name)), SEPARATOR);
    if (entry.isFile()) parts.push(await readFile(join(entry.parentPath, entry.name)), SEPARATOR);
  }
  return Buffer.concat(parts);
}
