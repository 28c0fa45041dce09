import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/**
 * Dependency rules: the packages that each package may import. ARCHITECTURE.md shows them as a
 * diagram.
 */
const arrows: Record<string, string[]> = {
  core: [],
  catalog: [],
  form: ['core/protocol', 'catalog'],
  element: ['core'],
  react: ['element'],
  vue: ['element'],
  host: ['core', 'catalog/types'],
  engine: ['catalog'],
  service: ['catalog', 'engine', 'form/package.json', 'element/package.json'],
  demo: ['core', 'host', 'service', 'catalog', 'element', 'react', 'vue'],
};

const root = fileURLToPath(new URL('../../', import.meta.url));
const rooms = Object.keys(arrows).map((name) => ({ name, folder: name === 'demo' ? 'demo' : `packages/${name}` }));

function sources(folder: string): string[] {
  return readdirSync(join(root, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(root, folder, 'src', file));
}

function imports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const statements =
    /^\s*(?:import|export)\b(?:[^'";]*?\bfrom)?\s*['"]([^'"]+)['"]|\b(?:import|resolve)\(\s*['"]([^'"]+)['"]/gm;
  return [...text.matchAll(statements)].map(([, written, computed]) => written ?? computed ?? '');
}

test.each(rooms)('$name imports only what its arrows allow', ({ name, folder }) => {
  const allowed = arrows[name] ?? [];
  const wrong = sources(folder).flatMap((file) =>
    imports(file)
      .filter((specifier) => specifier.startsWith('@connector-frame/'))
      .map((specifier) => specifier.slice('@connector-frame/'.length))
      .filter((target) => !allowed.some((arrow) => target === arrow || target.startsWith(`${arrow}/`)))
      .map((target) => `${relative(root, file)} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test.each(rooms)('$name reaches into no other room by a relative path', ({ folder }) => {
  const home = join(root, folder) + sep;
  const wrong = sources(folder).flatMap((file) =>
    imports(file)
      .filter((specifier) => specifier.startsWith('.'))
      .filter((specifier) => !join(file, '..', specifier).startsWith(home))
      .filter((specifier) => !(file.endsWith('.test.ts') && join(file, '..', specifier).startsWith(join(root, 'test'))))
      .map((specifier) => `${relative(root, file)} imports ${specifier}`),
  );
  expect(wrong).toEqual([]);
});

test('core has no dependency at all', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as object;
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('peerDependencies');
  const bare = sources('packages/core')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap(imports)
    .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'));
  expect(bare).toEqual([]);
});
