import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const DROP_IN = `export const filler = ${JSON.stringify('connector '.repeat(400))};`;

export const DROP_IN_CATALOG = 'export const picker = true;';

/** Creates the folder of an element package with a minimal built drop-in, version 3.14.1. */
export async function writeElement(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'element-'));
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'package.json'), '{"version":"3.14.1"}');
  await writeFile(join(folder, 'dist', 'connector-frame.js'), DROP_IN);
  await writeFile(join(folder, 'dist', 'connector-catalog.js'), DROP_IN_CATALOG);
  await writeFile(join(folder, 'dist', 'connector-frame.LICENSE.txt'), 'BSD 3-Clause License');
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
