import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

/** What each package may import of the others. ARCHITECTURE.md shows the rules as a table. */
const packages: Record<string, readonly string[]> = {
  core: [],
  catalog: [],
  form: ['core/protocol', 'catalog'],
  element: ['core'],
  react: ['element'],
  vue: ['element'],
  host: ['core', 'catalog/types'],
  engine: ['catalog'],
  connectors: ['engine/connector-api', 'catalog'],
  service: ['catalog', 'engine', 'connectors', 'form/package.json', 'element/package.json'],
  demo: ['core', 'host', 'service', 'catalog', 'element', 'react', 'vue'],
};

/** What tests may import in addition: real connectors, pipelines in memory, an open egress. */
const packagesOfTests: Record<string, readonly string[]> = {
  engine: ['connectors'],
  connectors: ['engine', 'engine/egress', 'engine/testing'],
};

/**
 * Layers inside a package: what the files of each folder, or a file by its name, may import of the
 * same package. A file at the top that is not listed may import everything.
 */
const layers: Record<string, Record<string, readonly string[]>> = {
  engine: {
    'problem.ts': [],
    egress: [],
    files: [],
    'connector-api': [],
    // The facade also exports what connectors use of the egress guard and of files.
    'connector-api/index.ts': ['egress', 'files'],
    'connector-api/connector-code.ts': ['egress'],
    'connector-api/tester.ts': ['egress'],
    records: ['connector-api'],
    conditions: ['connector-api', 'problem.ts'],
    transforms: ['connector-api', 'conditions', 'problem.ts'],
    enrichments: ['connector-api', 'transforms'],
    bus: ['connector-api', 'files', 'records'],
    coordinator: ['connector-api', 'files'],
    pipeline: ['connector-api', 'bus', 'conditions', 'coordinator', 'problem.ts'],
    schema: ['connector-api'],
    tracing: ['connector-api'],
    delivery: [
      'connector-api',
      'bus',
      'conditions',
      'coordinator',
      'enrichments',
      'files',
      'pipeline',
      'records',
      'schema',
      'tracing',
      'transforms',
    ],
    ingest: ['connector-api', 'bus', 'delivery', 'records', 'tracing'],
    control: ['connector-api', 'bus', 'coordinator', 'delivery', 'ingest', 'pipeline', 'transforms'],
  },
  service: {
    'api-error.ts': [],
    'clock.ts': [],
    'describe-error.ts': [],
    'is-errno.ts': [],
    'metrics.ts': ['node-metrics.ts'],
    'node-metrics.ts': [],
    'permissions.ts': [],
    'semaphore.ts': [],
    'readiness.ts': ['secrets', 'store'],
    'secret-files.ts': [],
    'env.ts': ['connectors', 'embed', 'http', 'secret-files.ts', 'secrets', 'sign-in', 'store'],
    store: ['clock.ts', 'describe-error.ts', 'is-errno.ts', 'permissions.ts'],
    secrets: ['clock.ts', 'describe-error.ts', 'is-errno.ts', 'store'],
    auth: ['api-error.ts', 'clock.ts', 'permissions.ts', 'secrets', 'store'],
    audit: ['auth', 'clock.ts', 'describe-error.ts', 'permissions.ts', 'store'],
    embed: ['auth', 'clock.ts', 'store'],
    http: [
      'api-error.ts',
      'audit',
      'auth',
      'clock.ts',
      'describe-error.ts',
      'metrics.ts',
      'permissions.ts',
      'secrets',
      'store',
    ],
    features: ['api-error.ts', 'auth', 'clock.ts', 'store'],
    'sign-in': [
      'api-error.ts',
      'audit',
      'auth',
      'clock.ts',
      'describe-error.ts',
      'features',
      'http',
      'permissions.ts',
      'secrets',
      'semaphore.ts',
      'store',
    ],
    oauth: ['api-error.ts', 'auth', 'clock.ts', 'secrets', 'store'],
    connectors: ['api-error.ts', 'auth', 'clock.ts', 'http', 'metrics.ts', 'oauth', 'secrets', 'store'],
    sharing: ['api-error.ts', 'store'],
    alerts: ['billing', 'store'],
    usage: ['store'],
    billing: ['api-error.ts', 'auth', 'store', 'usage'],
    pipelines: [
      'alerts',
      'api-error.ts',
      'billing',
      'clock.ts',
      'connectors',
      'describe-error.ts',
      'is-errno.ts',
      'metrics.ts',
      'node-metrics.ts',
      'oauth',
      'secrets',
      'semaphore.ts',
      'store',
      'usage',
    ],
    ingest: [
      'api-error.ts',
      'auth',
      'clock.ts',
      'connectors',
      'describe-error.ts',
      'env.ts',
      'http',
      'metrics.ts',
      'pipelines',
      'secrets',
      'semaphore.ts',
      'store',
    ],
    transfer: ['clock.ts', 'env.ts', 'is-errno.ts', 'pipelines', 'secrets', 'store'],
    routes: [
      'alerts',
      'api-error.ts',
      'audit',
      'auth',
      'billing',
      'clock.ts',
      'connectors',
      'describe-error.ts',
      'embed',
      'features',
      'http',
      'ingest',
      'metrics.ts',
      'oauth',
      'permissions.ts',
      'pipelines',
      'readiness.ts',
      'secrets',
      'sharing',
      'sign-in',
      'store',
      'semaphore.ts',
      'usage',
    ],
  },
};

const root = fileURLToPath(new URL('../../', import.meta.url));
const all = Object.keys(packages).map((name) => ({ name, folder: name === 'demo' ? 'demo' : `packages/${name}` }));
const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file) || file.includes(`${sep}testing${sep}`);

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));
}

/** Returns the specifiers of all imports and re-exports, type-only and dynamic ones included. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const statements =
    /^\s*(?:import|export)\b(?:[^'";]*?\bfrom)?\s*['"]([^'"]+)['"]|\b(?:import|resolve)\(\s*['"]([^'"]+)['"]/gm;
  return [...text.matchAll(statements)].map(([, written, computed]) => written ?? computed ?? '');
}

const isWithin = (target: string, allowed: string): boolean => target === allowed || target.startsWith(`${allowed}/`);

/** Returns the imports of a package, in `src`, that point to a layer which theirs may not use. */
function importsAgainstLayers(src: string, rules: Record<string, readonly string[]>): string[] {
  return sources(src)
    .filter((file) => !isTest(file))
    .flatMap((file) => {
      const from = relative(src, file).split(sep).join('/');
      const layer = from.includes('/') ? from.slice(0, from.indexOf('/')) : from;
      const allowed = rules[from] ?? rules[layer];
      if (!allowed) return from.includes('/') ? [`${from} is in no layer`] : [];
      return importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => relative(src, join(dirname(file), specifier.replace(/\.js$/, '.ts'))))
        .map((target) => target.split(sep).join('/'))
        .filter((target) => ![layer, ...allowed].some((each) => isWithin(target, each)))
        .map((target) => `${from} imports ${target}`);
    });
}

/** Returns the first cycle of layers, such as `['a', 'b', 'a']`. */
function cycleOf(rules: Record<string, readonly string[]>): string[] | undefined {
  const follow = (path: string[]): string[] | undefined => {
    for (const next of rules[path.at(-1) ?? ''] ?? []) {
      if (path.includes(next)) return [...path, next];
      const cycle = follow([...path, next]);
      if (cycle) return cycle;
    }
    return undefined;
  };
  return Object.keys(rules)
    .map((layer) => follow([layer]))
    .find(Boolean);
}

describe('packages', () => {
  test.each(all)('$name imports only the packages it may', ({ name, folder }) => {
    const wrong = sources(join(root, folder, 'src')).flatMap((file) => {
      const allowed = [...(packages[name] ?? []), ...(isTest(file) ? (packagesOfTests[name] ?? []) : [])];
      return importsOf(file)
        .filter((specifier) => specifier.startsWith('@connector-frame/'))
        .map((specifier) => specifier.slice('@connector-frame/'.length))
        .filter((target) => !allowed.some((each) => isWithin(target, each)))
        .map((target) => `${relative(root, file)} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  test('the connectors reach the engine through its connector API alone', () => {
    const targets = sources(join(root, 'packages/connectors/src'))
      .filter((file) => !isTest(file))
      .flatMap(importsOf)
      .filter((specifier) => specifier.startsWith('@connector-frame/engine'));
    expect(new Set(targets)).toEqual(new Set(['@connector-frame/engine/connector-api']));
  });

  test.each(all)('$name imports no file of another package by a relative path', ({ folder }) => {
    const home = join(root, folder) + sep;
    const support = join(root, 'test') + sep;
    const wrong = sources(join(root, folder, 'src')).flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => join(file, '..', specifier))
        .filter((target) => !target.startsWith(home) && !(isTest(file) && target.startsWith(support)))
        .map((target) => `${relative(root, file)} imports ${relative(root, target)}`),
    );
    expect(wrong).toEqual([]);
  });

  test('core has no dependency at all', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as object;
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('peerDependencies');
    const bare = sources(join(root, 'packages/core/src'))
      .filter((file) => !isTest(file))
      .flatMap(importsOf)
      .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'));
    expect(bare).toEqual([]);
  });
});

describe('layers', () => {
  test.each(Object.entries(layers))('%s: each layer imports only what is below it', (name, rules) => {
    expect(importsAgainstLayers(join(root, 'packages', name, 'src'), rules)).toEqual([]);
  });

  test.each(Object.entries(layers))('%s: the rules have no cycle, and name only what exists', (name, rules) => {
    expect(cycleOf(rules)).toBeUndefined();
    for (const layer of Object.keys(rules))
      expect(statSync(join(root, 'packages', name, 'src', layer)).isFile()).toBe(layer.endsWith('.ts'));
  });

  test.each([
    ['an import', "import { b } from '../high/b.js';"],
    ['a type-only import', "import type { B } from '../high/b.js';"],
    ['a re-export', "export * from '../high/b.js';"],
    ['a type-only re-export over several lines', "export type {\n  B,\n} from '../high/b.js';"],
    ['a dynamic import', "const b = await import('../high/b.js');"],
    ['an import for its effects', "import '../high/b.js';"],
  ])('%s of a higher layer is found', async (_name, statement) => {
    const src = await mkdtemp(join(tmpdir(), 'layers-'));
    onTestFinished(() => rm(src, { recursive: true }));
    await Promise.all(['low', 'high'].map((layer) => mkdir(join(src, layer))));
    await writeFile(join(src, 'low/a.ts'), statement);
    await writeFile(join(src, 'high/b.ts'), "import '../low/a.js';\n");
    expect(importsAgainstLayers(src, { low: [], high: ['low'] })).toEqual(['low/a.ts imports high/b.ts']);
  });

  test('a folder without a rule and a cycle in the rules are found', async () => {
    const src = await mkdtemp(join(tmpdir(), 'layers-'));
    onTestFinished(() => rm(src, { recursive: true }));
    await mkdir(join(src, 'new'));
    await writeFile(join(src, 'new/a.ts'), 'export const a = 1;');
    expect(importsAgainstLayers(src, {})).toEqual(['new/a.ts is in no layer']);
    expect(cycleOf({ a: ['b'], b: ['c'], c: ['a'] })).toEqual(['a', 'b', 'c', 'a']);
  });
});
