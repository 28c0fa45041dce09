import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, type Asset } from './form-assets.js';

/** The script that host pages load, and the licences that go with it, in memory. */
export interface DropIn {
  /** `0.1.0` */
  version: string;
  script: Asset;
  /** Of the script, as the attribute `integrity` takes it: `sha384-...` */
  integrity: string;
  licences: Asset;
}

/**
 * Reads the built drop-in.
 * @param folder of the package `@connector-frame/element`
 * @throws Error when the drop-in was not built
 */
export async function loadDropIn(folder: string): Promise<DropIn> {
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const read = (name: string) =>
    readFile(join(folder, 'dist', name)).catch(() => {
      throw new Error(`The drop-in is not built: ${join(folder, 'dist', name)} is missing. Run "npm run build" first.`);
    });
  const script = await read('connector-frame.js');
  return {
    version,
    script: pack(script, 'text/javascript; charset=utf-8'),
    integrity: `sha384-${createHash('sha384').update(script).digest('base64')}`,
    licences: pack(await read('connector-frame.LICENSE.txt'), 'text/plain; charset=utf-8'),
  };
}
