import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from './bundle.js';

/**
 * Runs code in Node, as a server would, with packages replaced by `alias`. Resolves with the code's
 * exports.
 */
export async function runOnServer<T>(code: string, alias: Record<string, string>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'on-server-'));
  const file = join(folder, 'server.mjs');
  try {
    await writeFile(file, await bundle(code, { alias, platform: 'node' }));
    return (await import(file)) as T;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
