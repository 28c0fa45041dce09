import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTOR_KINDS } from '../connector-kinds.js';
import type { Problem } from './problem.js';

export interface SourceFile {
  /** Path from the package root, with forward slashes. */
  file: string;
  value: unknown;
}

/** The catalog's files, parsed and otherwise unchanged. */
export interface Sources {
  types: SourceFile[];
  /** By name, without `.json`. */
  fragments: ReadonlyMap<string, SourceFile>;
  /** Authorization servers by name, without `.json`. */
  providers: ReadonlyMap<string, SourceFile>;
  icons: SourceFile;
  /** Fields that match the transport rule but are not transport. */
  notTransport: SourceFile;
  /** Other names of vendors, by vendor. */
  vendorAliases: SourceFile;
  problems: Problem[];
}

/**
 * Reads the folders of `types`, `fragments` and `providers`, and `icons.json`, `not-transport.json`
 * and `vendor-aliases.json` under the package root.
 */
export function readSources(root: string): Sources {
  const problems: Problem[] = [];

  const read = (file: string): SourceFile => {
    try {
      return { file, value: JSON.parse(readFileSync(join(root, file), 'utf8')) };
    } catch (error) {
      problems.push({
        file,
        pointer: '',
        message: `is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      });
      return { file, value: {} };
    }
  };

  const readFolder = (folder: string): SourceFile[] =>
    readdirSync(join(root, folder))
      .sort()
      .flatMap((name) => {
        if (name.endsWith('.json')) return [read(`${folder}/${name}`)];
        problems.push({
          file: `${folder}/${name}`,
          pointer: '',
          message: 'only .json files belong here: move it elsewhere',
        });
        return [];
      });

  const readNamed = (folder: string) =>
    new Map(readFolder(folder).map((source) => [source.file.slice(folder.length + 1, -'.json'.length), source]));

  return {
    types: CONNECTOR_KINDS.flatMap((kind) => readFolder(`types/${kind}s`)),
    fragments: readNamed('fragments'),
    providers: readNamed('providers'),
    icons: read('icons.json'),
    notTransport: read('not-transport.json'),
    vendorAliases: read('vendor-aliases.json'),
    problems,
  };
}
