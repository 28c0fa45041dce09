import { readFileSync } from 'node:fs';
import { root } from './root.mjs';

/**
 * Folders of the packages that are built, in dependency order: each package reads the build output
 * of the ones before it.
 */
export const packages = [
  'core',
  'catalog',
  'form',
  'element',
  'react',
  'vue',
  'host',
  'engine',
  'connectors',
  'service',
]
  .map((name) => `packages/${name}`)
  .concat('demo');

const manifests = new Map(
  packages.map((folder) => [folder, JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'))]),
);
const folderOf = new Map([...manifests].map(([folder, { name }]) => [name, folder]));

/** Returns the package.json of a package. */
export const manifestOf = (folder) => manifests.get(folder);

/** Returns the folder of a package by its npm name, or `undefined` for a package of the registry. */
export const folderOfPackage = (name) => folderOf.get(name);

/** Returns the folders of the packages that a package names in its package.json. */
export function dependenciesOf(folder) {
  const { dependencies, devDependencies, peerDependencies } = manifests.get(folder);
  return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
    .map((name) => folderOf.get(name))
    .filter((found) => found !== undefined);
}

/** Returns the packages and everything they depend on, in build order. */
export function withDependencies(folders) {
  const found = new Set();
  const visit = (folder) => {
    if (found.has(folder)) return;
    found.add(folder);
    dependenciesOf(folder).forEach(visit);
  };
  folders.forEach(visit);
  return packages.filter((folder) => found.has(folder));
}
