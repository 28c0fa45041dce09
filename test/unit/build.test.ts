import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Scripts {
  packages: readonly string[];
  dependenciesOf(folder: string): string[];
  testFiles(): string[];
  selectTests(words: readonly string[]): string[];
  needs: Readonly<Record<string, object>>;
  needsOf(files: readonly string[]): { build: string[]; programs: string[] };
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = (name: string): Promise<Partial<Scripts>> => import(`${root}scripts/lib/${name}.mjs`);
const { packages, dependenciesOf, testFiles, selectTests, needs, needsOf } = {
  ...(await script('packages')),
  ...(await script('test-files')),
  ...(await script('test-needs')),
} as Scripts;

describe('the list of packages', () => {
  test('has every package, after its dependencies', () => {
    expect([...packages].sort()).toEqual(['demo', ...readdirSync(`${root}packages`).map((name) => `packages/${name}`)]);
    for (const [index, folder] of packages.entries())
      expect(packages.slice(0, index)).toEqual(expect.arrayContaining(dependenciesOf(folder)));
  });
});

describe('a build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'build-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const has = (path: string): boolean => existsSync(join(folder, path));

  /** Builds and returns the packages that were built, or the printed line if there are none. */
  const build = (only?: readonly string[]): string[] => {
    const call = `import('./scripts/lib/build.mjs').then(async ({ build }) => process.exit((await build(${JSON.stringify({ only })})) ? 0 : 1))`;
    const printed = execFileSync(process.execPath, ['-e', call], { cwd: folder, encoding: 'utf8' });
    const [, names = ''] = /Building (.*) \.\.\./.exec(printed) ?? [];
    return names === '' ? printed.trim().split('\n').filter(Boolean) : names.split(', ');
  };

  // All packages, each with one source file, and the real scripts.
  beforeAll(() => {
    cpSync(`${root}scripts/lib`, join(folder, 'scripts/lib'), { recursive: true });
    cpSync(`${root}tsconfig.base.json`, join(folder, 'tsconfig.base.json'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(`${root}node_modules/typescript`, join(folder, 'node_modules/typescript'));
    write('package-lock.json', '{}');
    write('LICENSE', '');
    write('package.json', JSON.stringify({ workspaces: packages }));
    write('vite.config.ts', '');
    write('scripts/vite/plugin.ts', '');
    write('test/one.test.ts', '');
    write('tsconfig.json', JSON.stringify({ files: [], references: packages.map((path) => ({ path })) }));
    for (const name of packages) {
      const dependencies = Object.fromEntries(dependenciesOf(name).map((path) => [path, '*']));
      const options = { rootDir: 'src', outDir: 'dist' };
      const base = `${name.split('/').fill('..').join('/')}/tsconfig.base.json`;
      const scripts = name === 'demo' ? { build: 'echo vite build' } : {};
      write(`${name}/package.json`, JSON.stringify({ name, type: 'module', scripts, dependencies }));
      write(
        `${name}/tsconfig.json`,
        JSON.stringify({ extends: base, compilerOptions: options, include: ['src'], exclude: ['**/*.test.ts'] }),
      );
      write(`${name}/src/index.ts`, `export const name = '${name}';\n`);
    }
  });

  test('builds everything once, and nothing without a change', () => {
    expect(build()).toEqual(packages);
    expect(build()).toEqual([]);
  });

  test('after a change, builds the package and those that depend on it', () => {
    write('packages/element/src/index.ts', 'export const name = 1;\n');
    expect(build()).toEqual(['packages/element', 'packages/react', 'packages/vue', 'packages/service', 'demo']);
    expect(build()).toEqual([]);
  });

  test('after a change of a test, checks types only', () => {
    write('packages/core/src/some.test.ts', '');
    expect(build(['packages/core'])).toEqual([]);
    expect(build()).toEqual([expect.stringContaining('Checking types')]);
  });

  test('builds a removed output again', () => {
    rmSync(join(folder, 'packages/host/dist'), { recursive: true });
    expect(build(['packages/host'])).toEqual(['packages/host']);
    rmSync(join(folder, 'packages/host/dist/index.js'));
    expect(build(['packages/host'])).toEqual(['packages/host']);
    expect(has('packages/host/dist/index.js')).toBe(true);
  });

  test('removes the output of a deleted source', () => {
    write('packages/vue/src/extra.ts', 'export const extra = 1;\n');
    build();
    expect(has('packages/vue/dist/extra.js')).toBe(true);
    rmSync(join(folder, 'packages/vue/src/extra.ts'));
    expect(build()).toEqual(['packages/vue', 'demo']);
    expect(has('packages/vue/dist/extra.js')).toBe(false);
    expect(has('packages/vue/dist/index.js')).toBe(true);
  });

  test('builds everything after a change of the dependencies', () => {
    write('package-lock.json', '{ }');
    expect(build()).toEqual(packages);
  });

  test.each(['vite.config.ts', 'scripts/vite/plugin.ts'])('builds what Vite builds after a change of %s', (path) => {
    write(path, '// Changed.\n');
    expect(build()).toEqual(['demo']);
    expect(build()).toEqual([]);
  });

  test('builds again after a failure', () => {
    write('packages/core/src/index.ts', 'export const name: number = "core";\n');
    expect(() => build(['packages/core'])).toThrow();
    expect(() => build(['packages/core'])).toThrow();
  });
});

describe('the needs of a test', () => {
  test('are declared for places that exist', () => {
    for (const place of Object.keys(needs)) expect(existsSync(root + place), place).toBe(true);
  });

  test.each([
    ['packages/form/src/messages', { build: [], programs: [] }],
    ['packages/catalog/src/all-words', { build: ['packages/catalog'], programs: [] }],
    ['packages/service/src/store/schema', { build: [], programs: ['PostgreSQL'] }],
  ])('%s', (word, expected) => {
    expect(needsOf(selectTests([word]))).toEqual(expected);
  });

  test('a journey in a browser needs the build, and the engines it names', () => {
    const { build, programs } = needsOf(selectTests(['test/browser/attack-caret']));
    expect(build).toEqual(packages);
    expect(programs).toEqual(expect.arrayContaining(['Chromium', 'Firefox', 'WebKitGTK']));
    expect(needsOf(selectTests(['test/browser/leave'])).programs).toEqual(['Chromium']);
  });
});

test('arguments select test files as in Vitest', () => {
  const [first = ''] = testFiles();
  expect(selectTests([])).toEqual(testFiles());
  expect(selectTests([`./${first}`])).toEqual([first]);
  expect(selectTests([root + first])).toEqual([first]);
  expect(selectTests([`${first}:12`, '-t', 'a title'])).toEqual([first]);
  expect(selectTests(['no-such-file'])).toEqual([]);
});
