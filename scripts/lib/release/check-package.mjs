import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { root } from '../root.mjs';
import { command } from './command.mjs';

const repository = 'https://github.com/connector-frame/connector-frame';

/** Returns what is missing or wrong in a package's manifest. */
export function manifestProblems({ name, manifest }) {
  const folder = `packages/${name.split('/').at(-1)}`;
  const expected = {
    license: 'Apache-2.0',
    type: 'module',
    homepage: `${repository}/tree/main/${folder}#readme`,
    bugs: { url: `${repository}/issues` },
    repository: { type: 'git', url: `git+${repository}.git`, directory: folder },
    publishConfig: { access: 'public', provenance: true },
  };
  const wrong = Object.entries(expected)
    .filter(([key, value]) => JSON.stringify(manifest[key]) !== JSON.stringify(value))
    .map(([key, value]) => `"${key}" is ${JSON.stringify(manifest[key])} instead of ${JSON.stringify(value)}`);
  const missing = ['description', 'keywords', 'engines', 'sideEffects', 'exports', 'files']
    .filter((key) => manifest[key] === undefined)
    .map((key) => `"${key}" is missing`);
  const scoped = Object.entries(manifest.dependencies ?? {})
    .filter(([dependency, range]) => dependency.startsWith('@connector-frame/') && range !== manifest.version)
    .map(([dependency, range]) => `depends on ${dependency} ${range} instead of ${manifest.version}`);
  return [...wrong, ...missing, ...scoped, ...(manifest.private ? ['is private'] : [])];
}

/** Address of the service that `npm start` starts. */
const localService = 'localhost:4000';

/** Files that are of use only in this repository. */
const internal = /\.test\.|tsbuildinfo|tsconfig|vite\.config|fixture|\/build\/|^scripts\//;

/** Returns what is missing or wrong in a package's files. */
export async function fileProblems({ paths, manifest, folder }) {
  const problems = paths.filter((path) => internal.test(path)).map((path) => `${path} is internal`);

  const license = await readFile(join(root, 'LICENSE'), 'utf8');
  if (!paths.includes('LICENSE') || readFileSync(join(folder, 'LICENSE'), 'utf8') !== license)
    problems.push('LICENSE is missing or differs from the one of the repository');
  if (!paths.includes('README.md') || readFileSync(join(folder, 'README.md'), 'utf8').length < 200)
    problems.push('README.md is missing or empty');

  const targets = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  );
  for (const target of targets)
    if (!existsSync(join(folder, target))) problems.push(`${target} is exported but missing`);

  for (const path of paths.filter((path) => /\.(?:[cm]?js|ts|json|md|map)$/.test(path))) {
    const text = await readFile(join(folder, path), 'utf8');
    if (text.includes(root)) problems.push(`${path} names a folder of this machine`);
    // Compiled for `npm start`, the drop-ins would send tokens to the customer's own machine.
    if (path.endsWith('.js') && text.includes(localService)) problems.push(`${path} has ${localService} as an address`);
    const [, map] = /\.(?:js|d\.ts)$/.test(path) ? (/\/\/# sourceMappingURL=(\S+)\s*$/.exec(text) ?? []) : [];
    if (map !== undefined && !existsSync(join(folder, path, '..', map)))
      problems.push(`${path} has no source map ${map}`);
  }
  return problems;
}

/**
 * Returns the compiled files whose source is not in the package. `isStale` tells those whose source
 * no longer exists in the repository: they are left from an earlier build in the same folder.
 */
export function filesWithoutSource({ name, paths, folder }) {
  return paths
    .filter((path) => path.endsWith('.map'))
    .flatMap((path) => {
      const { sources } = JSON.parse(readFileSync(join(folder, path), 'utf8'));
      const lost = sources
        .map((source) => join(path, '..', source))
        .filter((source) => !existsSync(join(folder, source)));
      const home = join(root, 'packages', name.split('/').at(-1));
      return lost.map((source) => ({ path, source, isStale: !existsSync(join(home, source)) }));
    });
}

/** Returns every message of publint, suggestions included. */
export async function publintProblems({ file }) {
  const { buffer, byteOffset, byteLength } = await readFile(file);
  const tarball = buffer.slice(byteOffset, byteOffset + byteLength);
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }));
}

/** Returns what "Are the types wrong?" finds for ES modules. */
export async function typesProblems({ file }) {
  const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  const args = [attw, file, '--profile', 'esm-only', '--format', 'json', '--no-definitely-typed'];
  // The exit code is 1 if there are problems; `cause` has the output of both.
  const output = await command(process.execPath, args).catch(({ cause }) => cause.stdout);
  const { analysis, problems = {} } = JSON.parse(output);
  if (analysis?.types?.kind !== 'included') return ['has no types'];
  // The esm-only profile ignores CommonJS resolutions but still lists their problems; skip those.
  return Object.values(problems)
    .flat()
    .filter(({ resolutionKind }) => !/node10|node16-cjs/.test(resolutionKind ?? ''))
    .map((problem) => JSON.stringify(problem));
}

/** Returns everything that is wrong with a packed package. */
export async function packageProblems(tarball) {
  const stale = filesWithoutSource(tarball).map(({ path, source, isStale }) =>
    isStale
      ? `${path} is left from an earlier build: ${source} no longer exists. Remove dist/ and build again`
      : `${path} refers to ${source}, which is not in the package`,
  );
  const [files, lint, types] = await Promise.all([
    fileProblems(tarball),
    publintProblems(tarball),
    typesProblems(tarball),
  ]);
  return [...manifestProblems(tarball), ...files, ...stale, ...lint, ...types].map(
    (problem) => `${tarball.name}: ${problem}`,
  );
}
