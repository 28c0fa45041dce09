import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadDropIn } from '../../packages/service/src/embed/drop-in.js';
import { long } from '../support/long.js';

interface Changeset {
  summary: string;
  releases: { name: string; type: 'major' | 'minor' | 'patch' }[];
}
interface Tarball {
  name: string;
  version: string;
  file: string;
  integrity: string;
}
interface Scripts {
  root: string;
  isDated(changelog: string, version: string): boolean;
  withRelease(changelog: string, version: string, date: string, changesets: Changeset[]): Promise<string>;
  recordRelease(version: string, options: { isTagged: boolean; folder: string }): Promise<void>;
  changedRecords(tagged: Record<string, string>, folder: string): Promise<string[]>;
  builtHashes(folder?: string): Promise<Record<string, string>>;
  textsByVersion(path: string, cwd: string): Promise<Record<string, string>>;
  startRegistry(folder: string): Promise<{ url: string; close(): Promise<void> }>;
  publish(tarballs: Tarball[], options: { registry: string; provenance: boolean }): Promise<string[]>;
}
const script = (name: string): string => new URL(`../../scripts/lib/${name}.mjs`, import.meta.url).href;
const modules = [
  'root',
  ...['changelog', 'drop-in-releases', 'git', 'local-registry', 'publish'].map((one) => `release/${one}`),
];
const scripts = Object.assign({}, ...(await Promise.all(modules.map((name) => import(script(name)))))) as Scripts;
const { root } = scripts;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs git in the folder, independent of the user's settings. */
const git = (...args: string[]): string =>
  execFileSync(
    'git',
    ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'tag.gpgSign=false', ...args],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
    },
  );

describe('the drop-in', () => {
  const files = ['connector-frame.js', 'connector-catalog.js', 'connector-frame.LICENSE.txt'];
  const element = join(root, 'packages/element');

  /** Copies what a service reads of the built package, without any recorded release. */
  function copyElement(): string {
    mkdirSync(join(folder, 'dist'));
    for (const file of ['package.json', ...files.map((name) => `dist/${name}`)])
      cpSync(join(element, file), join(folder, file));
    writeFileSync(join(folder, 'releases.json'), '{}');
    return folder;
  }
  const { version }: { version: string } = JSON.parse(readFileSync(join(element, 'package.json'), 'utf8'));
  const development = new RegExp(`^${version.replaceAll('.', '\\.')}-dev\\.[0-9a-f]{16}$`);

  test('has the same bytes in every build of the same sources', async () => {
    const vite = join(root, 'node_modules/vite/bin/vite.js');
    for (const mode of ['element', 'catalog'])
      execFileSync(
        process.execPath,
        [vite, 'build', '--mode', mode, '--logLevel', 'error', '--outDir', join(folder, 'dist')],
        { cwd: root, env: { ...process.env, NODE_ENV: 'production' } },
      );
    expect(await scripts.builtHashes(folder)).toEqual(await scripts.builtHashes());
  });

  test('has its plain version only while its bytes are those recorded for the release', async () => {
    copyElement();
    expect((await loadDropIn(folder)).version).toMatch(development);
    await scripts.recordRelease(version, { isTagged: false, folder });
    expect((await loadDropIn(folder)).version).toBe(version);
    appendFileSync(join(folder, 'dist/connector-frame.js'), '\n');
    expect((await loadDropIn(folder)).version).toMatch(development);
  });

  test('of a tagged version can be recorded again only with the same bytes', async () => {
    copyElement();
    await scripts.recordRelease(version, { isTagged: false, folder });
    await scripts.recordRelease(version, { isTagged: true, folder });
    const before = readFileSync(join(folder, 'releases.json'), 'utf8');
    appendFileSync(join(folder, 'dist/connector-catalog.js'), '\n');
    await expect(scripts.recordRelease(version, { isTagged: true, folder })).rejects.toThrow(
      /is released, and its bytes can't change: connector-catalog\.js.*release a new version/,
    );
    expect(readFileSync(join(folder, 'releases.json'), 'utf8')).toBe(before);
  });

  test('of a tagged version has the hashes that it had when it was tagged', async () => {
    const record = (hashes: Record<string, string>): void =>
      writeFileSync(join(folder, 'releases.json'), JSON.stringify(hashes));
    git('init', '--quiet');
    record({ '0.1.0': 'sha384-one' });
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    git('tag', 'v0.1.0');
    const changed = async () => scripts.changedRecords(await scripts.textsByVersion('releases.json', folder), folder);
    record({ '0.1.0': 'sha384-one', '0.2.0': 'sha384-two' });
    expect(await changed()).toEqual([]);
    record({ '0.1.0': 'sha384-other' });
    expect(await changed()).toEqual(['0.1.0']);
    record({});
    expect(await changed()).toEqual(['0.1.0']);
  });
});

describe('a version', () => {
  const names = readdirSync(join(root, 'packages'));
  const manifests = [...names.map((name) => `packages/${name}`), 'demo', 'test/openapi-client', 'test/react-18'].map(
    (path) => `${path}/package.json`,
  );

  test('is the same for every package, and writes no changelog of its own', () => {
    for (const file of ['package.json', '.changeset/config.json', ...manifests]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(root, file), join(folder, file));
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, '.gitignore'), 'node_modules');
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'before');
    writeFileSync(join(folder, '.changeset/one.md'), "---\n'@connector-frame/core': major\n---\n\nNew.\n");
    writeFileSync(join(folder, '.changeset/two.md'), "---\n'@connector-frame/host': patch\n---\n\nFixed.\n");

    execFileSync(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'version'], { cwd: folder });

    for (const file of manifests) {
      const { version, dependencies = {} } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        version: string;
        dependencies?: Record<string, string>;
      };
      const ours = Object.entries(dependencies).filter(([name]) => name.startsWith('@connector-frame/'));
      expect([file, version, ours]).toEqual([file, '1.0.0', ours.map(([name]) => [name, '1.0.0'])]);
      expect(existsSync(join(folder, dirname(file), 'CHANGELOG.md'))).toBe(false);
    }
    expect(existsSync(join(folder, '.changeset/one.md'))).toBe(false);
  });

  const changesets: Changeset[] = [
    { summary: 'Fixed a leak.', releases: [{ name: '@connector-frame/core', type: 'patch' }] },
    {
      summary: `\`onReady\` runs when the form is visible, and not before. ${'It says more. '.repeat(4)}\n\n- a detail`,
      releases: [
        { name: '@connector-frame/core', type: 'minor' },
        { name: '@connector-frame/react', type: 'patch' },
      ],
    },
  ];
  const before = '# Changelog\n\nIntroduction.\n\n## 0.1.0 (2026-01-31)\n\n- First.\n';

  test('has a section in the changelog, above the older ones', async () => {
    const after = await scripts.withRelease(before, '0.2.0', '2026-02-28', changesets);
    expect(after).toBe(`# Changelog

Introduction.

## 0.2.0 (2026-02-28)

### Minor changes

- **core**, **react**: \`onReady\` runs when the form is visible, and not before. It says more. It
  says more. It says more. It says more.

  - a detail

### Patch changes

- **core**: Fixed a leak.

## 0.1.0 (2026-01-31)

- First.
`);
    expect(scripts.isDated(after, '0.2.0')).toBe(true);
    expect(scripts.isDated(after, '0.2.1')).toBe(false);
  });

  test('gets the date of its release in a section that exists', async () => {
    const unreleased = before.replace('(2026-01-31)', '(unreleased)');
    expect(scripts.isDated(unreleased, '0.1.0')).toBe(false);
    const once = await scripts.withRelease(unreleased, '0.1.0', '2026-01-30', []);
    expect(await scripts.withRelease(once, '0.1.0', '2026-01-31', [])).toBe(before);
  });
});

describe('publishing', () => {
  test.runIf(long)('continues after a failure, and never replaces a version', async () => {
    const pack = (name: string, text: string): Tarball => {
      const home = join(folder, `${name}-${text}`);
      mkdirSync(home);
      const manifest = { name: `@connector-frame/${name}`, version: '9.9.9', publishConfig: { provenance: true } };
      writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
      writeFileSync(join(home, 'index.js'), text);
      const output = execFileSync('npm', ['pack', '--json', '--loglevel=error'], { cwd: home, encoding: 'utf8' });
      const [{ filename, integrity }] = JSON.parse(output) as [{ filename: string; integrity: string }];
      return { name: manifest.name, version: manifest.version, file: join(home, filename), integrity };
    };
    const [one, two, other] = [pack('one', 'a'), pack('two', 'a'), pack('two', 'b')];
    const registry = await scripts.startRegistry(folder);
    try {
      const local = { registry: registry.url, provenance: false };
      expect(await scripts.publish([one], local)).toEqual(['@connector-frame/one']);
      expect(await scripts.publish([one, two], local)).toEqual(['@connector-frame/two']);
      await expect(scripts.publish([one, other], local)).rejects.toThrow(
        /@connector-frame\/two@9\.9\.9 is already published with other content.*release a new one/,
      );
    } finally {
      await registry.close();
    }
  });

  test('is refused outside CI', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/release.mjs')], {
      encoding: 'utf8',
      env: { ...process.env, CI: '' },
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/published by \.github\/workflows\/release\.yml.*--dry-run/);
  });

  test('uses actions pinned by commit, an identity token, and no stored secret', () => {
    const workflow = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
    const actions = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action ?? ''))).toEqual([]);
    expect(workflow).toContain('id-token: write');
    expect(workflow).not.toMatch(/secrets\.|NPM_TOKEN|NODE_AUTH_TOKEN/);
  });
});
