import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, type Asset } from './form-assets.js';

/** What a script of the drop-in is called. */
export const DROP_IN_SCRIPTS = ['connector-frame.js', 'connector-catalog.js'] as const;
export type DropInScript = (typeof DROP_IN_SCRIPTS)[number];

/** The scripts that host pages load, and the licences that go with them, in memory. */
export interface DropIn {
  /** `0.1.0` */
  version: string;
  /** Each with its hash as the attribute `integrity` takes it: `sha384-...` */
  scripts: Readonly<Record<DropInScript, { script: Asset; integrity: string }>>;
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
