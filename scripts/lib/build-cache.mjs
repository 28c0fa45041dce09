import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { cache, root } from './root.mjs';
import { dependenciesOf, manifestOf, packages } from './packages.mjs';

/** Output folders of the projects that only check types: those of the form, its gallery, the tests. */
const typeChecks = ['form-types', 'gallery-types', 'test-types', 'elements-types'];

/** Folders and files that no build step reads. */
const ignored = new Set(['dist', 'node_modules', '.data', 'README.md']);
const isInput = (name) => !ignored.has(name) && !name.endsWith('.tsbuildinfo');
const isTest = (path) => /\.test\.tsx?$/.test(path);

/** Inputs of every step: compiler settings, versions of the tools, and the license in the bundles. */
const shared = ['tsconfig.base.json', 'package-lock.json', 'LICENSE'];

const isBuiltByVite = (folder) => /\bvite build\b/.test(manifestOf(folder).scripts?.build ?? '');

/**
 * Reads all inputs once and returns what to compare them with.
 *
 * A package is up to date if the contents of its sources, of its dependencies' sources and of the
 * shared files are those of its last successful build, and if the files of `dist` were not touched
 * since. The Vite configuration is an input of the packages that Vite builds. Tests are inputs of the type check only.
 */
export function readBuildState() {
  const base = createHash('sha256').update(process.version);
  for (const file of shared) base.update(readFileSync(root + file));
  // Build scripts write these variables into their output.
  for (const name of Object.keys(process.env).sort())
    if (name.startsWith('CONNECTOR_FRAME_')) base.update(`${name}=${process.env[name]}\n`);
  const common = base.digest('hex');
  const vite = digest([readFileSync(`${root}vite.config.ts`, 'utf8'), ...[...hashFiles('scripts/vite')].flat()]);

  const files = new Map([...packages, 'test'].map((folder) => [folder, hashFiles(folder)]));
  const inputs = new Map();
  for (const folder of packages) {
    const own = [...files.get(folder)].filter(([path]) => !isTest(path));
    const tools = isBuiltByVite(folder) ? [common, vite] : [common];
    inputs.set(folder, digest([...tools, ...own.flat(), ...dependenciesOf(folder).map((name) => inputs.get(name))]));
  }
  const everything = digest([
    common,
    vite,
    readFileSync(`${root}tsconfig.json`, 'utf8'),
    ...[...files.values()].flatMap((hashes) => [...hashes].flat()),
  ]);

  return {
    /** Returns whether the build of a package would produce what is there. */
    isCurrent(folder) {
      const last = readRecord(folder);
      if (last?.inputs !== inputs.get(folder)) return false;
      const outputs = listOutputs(folder);
      const names = Object.keys(outputs);
      return (
        names.length === Object.keys(last.outputs).length && names.every((name) => outputs[name] === last.outputs[name])
      );
    },

    /**
     * Removes the output of a package whose sources were deleted or whose output is incomplete: tsc
     * neither deletes the output of a deleted source nor writes a deleted output again.
     */
    clean(folder) {
      const last = readRecord(folder);
      const outputs = listOutputs(folder);
      const isComplete =
        last !== undefined &&
        Object.keys(last.outputs).every((name) => name in outputs) &&
        last.sources.every((path) => files.get(folder).has(path));
      if (isComplete) return;
      rmSync(`${root}${folder}/dist`, { recursive: true, force: true });
      rmSync(`${root}${folder}/tsconfig.tsbuildinfo`, { force: true });
      // tsc may keep errors from a check of the incomplete output.
      for (const checks of typeChecks) rmSync(`${root}node_modules/.cache/${checks}`, { recursive: true, force: true });
    },

    /** Records that the package was built from these inputs. */
    built(folder) {
      const sources = [...files.get(folder).keys()].filter((path) => !isTest(path));
      writeRecord(folder, { inputs: inputs.get(folder), sources, outputs: listOutputs(folder) });
    },

    /** Returns whether these sources and tests passed the type check. */
    isChecked: () => readRecord('types')?.inputs === everything,

    /** Records that all sources and tests passed the type check. */
    checked: () => writeRecord('types', { inputs: everything }),
  };
}

const digest = (parts) => createHash('sha256').update(parts.join('\n')).digest('hex');

/** Returns the hash of each file that a build step may read, by its path. */
function hashFiles(folder, hashes = new Map()) {
  for (const entry of readdirSync(root + folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (!isInput(entry.name)) continue;
    if (entry.isDirectory()) hashFiles(path, hashes);
    else if (entry.isFile())
      hashes.set(
        path,
        createHash('sha1')
          .update(readFileSync(root + path))
          .digest('base64'),
      );
  }
  return hashes;
}

/** Returns size and modification time of each file in `dist`, by its path. */
function listOutputs(folder) {
  const dist = `${root}${folder}/dist`;
  if (!existsSync(dist)) return {};
  const outputs = {};
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const stats = statSync(`${dist}/${name}`);
    if (stats.isFile()) outputs[name] = `${stats.size} ${stats.mtimeMs}`;
  }
  return outputs;
}

const recordFile = (name) => `${cache}/build/${name}.json`;

function readRecord(name) {
  try {
    return JSON.parse(readFileSync(recordFile(name), 'utf8'));
  } catch {
    // Never built, or the file is incomplete.
    return undefined;
  }
}

function writeRecord(name, record) {
  mkdirSync(dirname(recordFile(name)), { recursive: true });
  writeFileSync(recordFile(name), JSON.stringify(record));
}
