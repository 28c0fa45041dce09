import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Packages that are published. */
export const publicPackages = ['catalog', 'core', 'element', 'host', 'react', 'vue'] as const;
export type PublicPackage = (typeof publicPackages)[number];

/** A package as npm would publish it. */
export interface Tarball {
  name: string;
  file: string;
  manifest: Manifest;
  /** Paths of its files, relative to its root. */
  paths: string[];
  /** Folder with its files. */
  folder: string;
}

export interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  exports: Record<string, string | Record<string, string>>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

interface Release {
  packPackages(folder: string): Promise<Tarball[]>;
  manifestProblems(tarball: Tarball): string[];
  fileProblems(tarball: Tarball): Promise<string[]>;
  filesWithoutSource(tarball: Tarball): { path: string; source: string; isStale: boolean }[];
  publintProblems(tarball: Tarball): Promise<string[]>;
  typesProblems(tarball: Tarball): Promise<string[]>;
}
const script = (name: string): string => new URL(`../../scripts/lib/release/${name}.mjs`, import.meta.url).href;

/** What `npm run release` packs and checks. */
export const release: Release = { ...(await import(script('pack'))), ...(await import(script('check-package'))) };

/** Packs the public packages into a new folder. */
export async function packAll(): Promise<{ tarballs: Record<PublicPackage, Tarball>; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  const packed = await release.packPackages(folder);
  const tarballs = Object.fromEntries(
    packed.map((tarball) => [tarball.name.slice('@connector-frame/'.length), tarball]),
  ) as Record<PublicPackage, Tarball>;
  return { tarballs, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A project outside this repository, with some packages installed. */
export interface Project {
  folder: string;
  /** Writes a file. */
  write(path: string, content: string): Promise<void>;
  /** Runs a module in plain Node and returns its output. */
  node(code: string, flags?: readonly string[]): Promise<string>;
  /**
   * Type-checks `use.ts` under a module resolution, including all dependencies' declarations.
   * Returns the compiler's output.
   */
  check(resolution: 'nodenext' | 'bundler', options?: Record<string, unknown>): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Creates an empty project and installs tarballs with npm, offline. Their dependencies are links to
 * the packages in this repository, whose versions npm checks against the requested ranges. An
 * undeclared dependency is missing.
 * @param more third-party packages to install as well
 * @param template folder of a project to start from, such as one of `create-vite`
 */
export async function createProject(
  ours: readonly Tarball[],
  more: readonly string[] = [],
  template?: string,
): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'project-'));
  if (template !== undefined) await cp(template, folder, { recursive: true });
  const write = async (path: string, content: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  };
  const declared = ours.flatMap(({ manifest }) =>
    Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  );
  const others = [...declared.filter((name) => !name.startsWith('@connector-frame/')), ...more];
  const dependencies = {
    ...Object.fromEntries(ours.map(({ manifest, file }) => [manifest.name, `file:${file}`])),
    ...Object.fromEntries(others.map((name) => [name, `file:${root}node_modules/${name}`])),
  };
  const manifest = { name: 'project', version: '1.0.0', private: true, type: 'module', scripts: {} };
  if (template !== undefined) Object.assign(manifest, JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
  await write('package.json', JSON.stringify({ ...manifest, dependencies, devDependencies: {} }));
  await npm(folder, ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']);
  return {
    folder,
    write,
    async node(code, flags = []) {
      await write('use.mjs', code);
      return (await run(process.execPath, [...flags, 'use.mjs'], { cwd: folder })).stdout;
    },
    async check(resolution, options = {}) {
      const compilerOptions = {
        target: 'es2022',
        module: resolution === 'bundler' ? 'esnext' : 'nodenext',
        moduleResolution: resolution,
        lib: ['es2023', 'dom', 'dom.iterable'],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
        ...options,
      };
      const config = `tsconfig.${resolution}.json`;
      await write(config, JSON.stringify({ compilerOptions, include: ['use.*'] }));
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      return run(process.execPath, [tsc, '-p', config], { cwd: folder }).then(
        ({ stdout }) => stdout,
        (error: { stdout: string }) => error.stdout,
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const npm = (cwd: string, words: readonly string[]) =>
  run('npm', [...words, '--loglevel=error'], { cwd, maxBuffer: 64 * 2 ** 20, shell: process.platform === 'win32' });
