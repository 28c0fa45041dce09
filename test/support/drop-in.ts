import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const DROP_IN = `export const filler = ${JSON.stringify('connector '.repeat(400))};`;

export const DROP_IN_CATALOG = 'export const picker = true;';

const LICENSES = 'BSD 3-Clause License';

const integrity = (text: string) => `sha384-${createHash('sha384').update(text).digest('base64')}`;

/** Creates the folder of an element package with a minimal built drop-in, released as 3.14.1. */
export async function writeElement(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'element-'));
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'package.json'), '{"version":"3.14.1"}');
  const files = {
    'connector-frame.js': DROP_IN,
    'connector-catalog.js': DROP_IN_CATALOG,
    'connector-frame.LICENSE.txt': LICENSES,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'dist', name), text);
  const hashes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, integrity(text)]));
  await writeFile(join(folder, 'releases.json'), JSON.stringify({ '3.14.1': hashes }));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
