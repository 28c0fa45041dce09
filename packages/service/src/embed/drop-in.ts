import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, type Asset } from './form-assets.js';

/** File names of the drop-in scripts. */
export const DROP_IN_SCRIPTS = ['connector-frame.js', 'connector-catalog.js'] as const;
export type DropInScript = (typeof DROP_IN_SCRIPTS)[number];

/** License texts of the scripts, which refer to this file by a path relative to their own URL. */
export const DROP_IN_LICENSES = 'connector-frame.LICENSE.txt';

/** The scripts that host pages load, and their licenses, held in memory. */
export interface DropIn {
  /**
   * Full version. `0.1.0` if the files are those of the release, otherwise `0.1.0-dev.<hash>`,
   * with a hash of the files.
   */
  version: string;
  /** Each script with its hash for the `integrity` attribute: `sha384-...` */
  scripts: Readonly<Record<DropInScript, { script: Asset; integrity: string }>>;
  licences: Asset;
}

/** `releases.json` of the element's package: integrity hashes by version and file name. */
type Releases = Record<string, Record<string, string> | undefined>;

/**
 * Reads the built drop-in.
 * @param folder root of the package `@connector-frame/element`
 * @throws Error if the drop-in is not built
 */
export async function loadDropIn(folder: string): Promise<DropIn> {
  const read = (name: string) =>
    readFile(join(folder, 'dist', name)).catch(() => {
      throw new Error(`The drop-in is not built: ${join(folder, 'dist', name)} is missing. Run "npm run build" first.`);
    });
  const script = async (name: DropInScript) => {
    const text = await read(name);
    return { script: pack(text, 'text/javascript; charset=utf-8'), integrity: integrityOf(text) };
  };
  const scripts = {
    'connector-frame.js': await script('connector-frame.js'),
    'connector-catalog.js': await script('connector-catalog.js'),
  };
  const licences = await read(DROP_IN_LICENSES);
  return {
    version: await versionOf(folder, {
      'connector-frame.js': scripts['connector-frame.js'].integrity,
      'connector-catalog.js': scripts['connector-catalog.js'].integrity,
      [DROP_IN_LICENSES]: integrityOf(licences),
    }),
    scripts,
    licences: pack(licences, 'text/plain; charset=utf-8'),
  };
}

const integrityOf = (text: Buffer): string => `sha384-${createHash('sha384').update(text).digest('base64')}`;

/**
 * Browsers keep the files of a full version for a year, so a version must never name two contents.
 * Only the recorded files of a release get its version; any other build, before or after the
 * release, gets a version derived from its content.
 */
async function versionOf(folder: string, built: Record<string, string>): Promise<string> {
  const text = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  const { version }: { version: string } = JSON.parse(await text('package.json'));
  const releases: Releases = JSON.parse(await text('releases.json'));
  const released = releases[version];
  const files = Object.entries(built);
  if (released !== undefined && files.every(([name, integrity]) => released[name] === integrity)) return version;
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex');
  return `${version}-dev.${hash.slice(0, 16)}`;
}
