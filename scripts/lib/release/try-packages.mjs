import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../root.mjs';
import { command } from './command.mjs';
import { settingsOf } from './local-registry.mjs';

const consumer = fileURLToPath(new URL('consumer/', import.meta.url));

/** What a product adds besides these packages, in the versions that this repository tests with. */
const others = ['react', 'react-dom', 'vue', '@types/react', '@types/react-dom', '@types/node'];

/**
 * Installs published packages into an empty project, as a user would, imports every entry point in
 * Node, and compiles a small product against them.
 * @param tarballs results of `packPackages`
 * @param registry URL of the registry that serves them; everything else comes from npm's own
 * @param folder an empty folder
 * @returns the numbers of installed `packages` and imported `entries`
 * @throws Error if any step fails, or npm installed anything but these tarballs
 */
export async function tryPackages(tarballs, { registry, folder }) {
  const project = join(folder, 'project');
  await mkdir(project);
  const { devDependencies } = JSON.parse(await readFile(`${root}package.json`, 'utf8'));
  const dependencies = Object.fromEntries([
    ...tarballs.map(({ name, version }) => [name, version]),
    ...others.map((name) => [name, devDependencies[name]]),
  ]);
  const write = (name, value) => writeFile(join(project, name), JSON.stringify(value, null, 2));
  await write('package.json', { name: 'product', private: true, type: 'module', dependencies });
  await writeFile(join(project, '.npmrc'), `${settingsOf(registry).join('\n')}\n`);
  await command('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: project,
    env: {
      // A separate cache, so that npm uses no metadata of an earlier registry on this port.
      npm_config_cache: join(folder, 'cache'),
      ...withoutProxy(),
    },
  });

  const { packages } = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
  for (const { name, integrity } of tarballs)
    if (packages[`node_modules/${name}`]?.integrity !== integrity) throw new Error(`npm installed another ${name}.`);

  const entries = tarballs.flatMap(({ name, manifest }) =>
    Object.keys(manifest.exports).map((entry) => `${name}${entry.slice(1)}`),
  );
  await copyFile(join(consumer, 'import-all.mjs'), join(project, 'import-all.mjs'));
  await command(process.execPath, ['import-all.mjs', ...entries], { cwd: project });

  await copyFile(join(consumer, 'product.tsx'), join(project, 'product.tsx'));
  for (const [moduleResolution, module] of [
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ]) {
    await write('tsconfig.json', {
      compilerOptions: {
        target: 'es2022',
        module,
        moduleResolution,
        lib: ['es2023', 'dom', 'dom.iterable'],
        types: ['node'],
        jsx: 'react-jsx',
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
      },
      include: ['product.tsx'],
    });
    await command(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: project });
  }
  return { packages: Object.keys(packages).length - 1, entries: entries.length };
}

/** The environment that keeps requests to the loopback interface away from a proxy. */
function withoutProxy() {
  const hosts = [process.env.NO_PROXY ?? process.env.no_proxy, '127.0.0.1'].filter(Boolean).join(',');
  return { NO_PROXY: hosts, no_proxy: hosts };
}
