import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, type Asset } from './form-assets.js';

/** File names of the drop-in scripts. */
export const DROP_IN_SCRIPTS = ['connector-frame.js', 'connector-catalog.js'] as const;
export type DropInScript = (typeof DROP_IN_SCRIPTS)[number];

/** The scripts that host pages load, and their licenses, held in memory. */
export interface DropIn {
  /** Full version, such as `0.1.0`. */
  version: string;
  /** Each script with its hash for the `integrity` attribute: `sha384-...` */
  scripts: Readonly<Record<DropInScript, { script: Asset; integrity: string }>>;
  licences: Asset;
}

/**
 * Reads the built drop-in.
 * @param folder root of the package `@connector-frame/element`
 * @throws Error if the drop-in is not built
 */
export async function loadDropIn(folder: string): Promise<DropIn> {
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const read = (name: string) =>
    readFile(join(folder, 'dist', name)).catch(() => {
      throw new Error(`The drop-in is not built: ${join(folder, 'dist', name)} is missing. Run "npm run build" first.`);
    });
  const script = async (name: DropInScript) => {
    const text = await read(name);
    const integrity = `sha384-${createHash('sha384').update(text).digest('base64')}`;
    return { script: pack(text, 'text/javascript; charset=utf-8'), integrity };
  };
  return {
    version,
    scripts: {
      'connector-frame.js': await script('connector-frame.js'),
      'connector-catalog.js': await script('connector-catalog.js'),
    },
    licences: pack(await read('connector-frame.LICENSE.txt'), 'text/plain; charset=utf-8'),
  };
}
