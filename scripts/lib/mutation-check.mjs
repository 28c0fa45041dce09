import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutations } from './mutations.mjs';
import { root } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/**
 * Breaks one property at a time in a copy of the tree, runs the test that covers it, and counts the
 * mutation as passed if a test with the property's ID in its title fails. First runs the tests on
 * the unchanged copy: if they failed there, later failures would prove nothing.
 * @param env environment of the test runner
 * @param rows IDs of the properties to break. Default: all
 */
export async function checkMutations(tally, env, rows = []) {
  const chosen = mutations.filter(({ row }) => rows.length === 0 || rows.includes(row));
  if (chosen.length === 0) return tally.count(`mutations of ${rows.join(', ')}`, false);
  const folder = copyTree();
  try {
    say('Mutation check: the tests on an unchanged copy ...');
    const files = [...new Set(chosen.map(({ test }) => test))];
    const before = await failuresOf(folder, files, env);
    tally.count('the tests of the mutation check on an unchanged copy', before?.length === 0);
    if (before?.length !== 0) return;
    for (const mutation of chosen) {
      const { row, what, file, test, build } = mutation;
      const path = join(folder, file);
      const source = readFileSync(path, 'utf8');
      const changed = mutate(source, mutation);
      const name = `mutation ${row}: ${what}`;
      if (changed === undefined) {
        console.error(`${file} does not hold what this mutation changes.`);
        tally.count(name, false);
        continue;
      }
      say(`${name} ...`);
      await write(folder, path, changed, build);
      const failures = await failuresOf(folder, [test], { ...env, ...mutation.env });
      await write(folder, path, source, build);
      const noticed = failures?.filter((title) => title.includes(row)) ?? [];
      if (noticed.length === 0) console.error(`No test with ${row} in its title failed in ${test}.`);
      else console.log(`  noticed by ${noticed.length} of the tests, first: ${noticed[0]}`);
      tally.count(name, noticed.length > 0);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes a source file, and rebuilds its package if the tests read the build output. */
async function write(folder, path, source, build) {
  writeFileSync(path, source);
  if (build === undefined) return;
  const code = await run('npm', ['run', 'build', '-w', build], { cwd: folder, quiet: true });
  if (code !== 0) throw new Error(`${build} does not build with ${path} as it is.`);
}

/** Returns the mutated source, or `undefined` if the text does not occur exactly once. */
function mutate(source, { find, replace }) {
  const changed = source.replaceAll(find, replace);
  if (changed === source) return undefined;
  if (typeof find === 'string' && source.split(find).length !== 2) return undefined;
  return changed;
}

/** Copies the working tree. The workspace links of the copy lead to its own packages. */
function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), 'connector-frame-mutations-'));
  for (const name of readdirSync(root)) {
    if (name === 'node_modules' || name === '.git') continue;
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.endsWith('/node_modules'),
    });
  }
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@connector-frame') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  const scope = join(root, 'node_modules', '@connector-frame');
  // Workspace links are relative: the copied links resolve to the copied packages.
  cpSync(scope, join(modules, '@connector-frame'), { recursive: true, verbatimSymlinks: true });
  for (const name of readdirSync(scope)) {
    if (!lstatSync(join(scope, name)).isSymbolicLink()) throw new Error(`${scope}/${name} is no link to a workspace.`);
  }
  return folder;
}

/** Returns the full titles of the failed tests, or `undefined` if the files could not be run. */
async function failuresOf(folder, files, env) {
  const report = join(folder, 'mutation-tests.json');
  rmSync(report, { force: true });
  const reporters = ['--reporter=json', `--outputFile.json=${report}`];
  await run('npx', ['vitest', 'run', ...reporters, ...files], { cwd: folder, env, quiet: true });
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const broken = testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    );
    if (broken.length > 0) return undefined;
    return testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => fullName);
  } catch {
    return undefined;
  }
}
