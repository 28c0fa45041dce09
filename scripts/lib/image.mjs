import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifestOf, withDependencies } from './packages.mjs';
import { root } from './root.mjs';
import { run } from './run.mjs';
import { fail } from './say.mjs';

/** Types and source maps: a third of the size of all packages. */
const isForDevelopment = (path) => /\.(?:d\.[cm]?ts|map)$/.test(path);

/**
 * Lays out in an empty folder what a container image of the service contains. Every user can read the
 * files, whatever the umask.
 * @param folder absolute path
 */
export async function layOutImage(folder) {
  const workspaces = withDependencies(['packages/service']);
  mkdirSync(folder, { recursive: true });
  const { version, license, type, overrides } = readJson('package.json');
  const manifest = { name: 'connector-frame', private: true, version, license, type, workspaces, overrides };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  for (const name of ['package-lock.json', 'LICENSE']) copyFileSync(`${root}${name}`, join(folder, name));
  copyFileSync(`${root}deploy/healthcheck.mjs`, join(folder, 'healthcheck.mjs'));
  copyPackages(workspaces, folder);
  const options = ['--omit=dev', '--ignore-scripts', '--no-progress', '--loglevel=error', '--no-audit', '--no-fund'];
  if ((await run('npm', ['ci', ...options], { cwd: folder })) !== 0) fail('npm ci failed. Its output above says why.');
  for (const path of readdirSync(join(folder, 'node_modules'), { recursive: true }))
    if (isForDevelopment(path)) rmSync(join(folder, 'node_modules', path));
  execFileSync('chmod', ['-R', 'a+rX,go-w', folder]);
}

/** Copies the files that each package would publish, from the most recent build. */
function copyPackages(workspaces, folder) {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
  const names = workspaces.map((workspace) => `--workspace=${workspace}`);
  const output = execFileSync('npm', [...words, ...names], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const packed = new Map(Object.values(JSON.parse(output)).map(({ name, files }) => [name, files]));
  for (const workspace of workspaces) {
    const files = packed.get(manifestOf(workspace).name);
    if (files === undefined) fail(`npm did not list the files of ${workspace}.`);
    for (const { path } of files) {
      if (path.startsWith('src/') || isForDevelopment(path)) continue;
      const target = join(folder, workspace, path);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(root, workspace, path), target);
    }
  }
}

const readJson = (path) => JSON.parse(readFileSync(`${root}${path}`, 'utf8'));
