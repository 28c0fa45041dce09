import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const guides = fileURLToPath(new URL('../../docs/guides', import.meta.url));
const room = fileURLToPath(new URL('../../packages/host', import.meta.url));

/**
 * The reader's part: a sign-in and a record of teams. The cookie `tenant` names the signed-in
 * tenant.
 */
const yourApp = `
  const teams = { acme: process.env.TEAM_ACME ?? 'org-acme', globex: 'org-globex' };
  export const teamOf = (tenantId) => teams[tenantId];
  export function readSession(cookie) {
    const tenantId = /(?:^|; )tenant=(\\w+)/.exec(cookie ?? '')?.[1];
    return tenantId && { tenantId };
  }
`;

/** Returns the code a guide shows for `file`, verbatim. */
export async function codeOf(guide: string, file: string): Promise<string> {
  const page = await readFile(join(guides, `${guide}.md`), 'utf8');
  const start = page.indexOf(`\n\`\`\`${extname(file).slice(1)} ${file}\n`);
  const end = page.indexOf('\n```\n', start + 1);
  if (start === -1 || end === -1) throw new Error(`docs/guides/${guide}.md shows no ${file}`);
  return page.slice(page.indexOf('\n', start + 1) + 1, end);
}

/**
 * Creates a folder inside the host package or `place`, so that its code resolves the packages
 * installed there.
 */
export async function makeFolder(place = room): Promise<{ path: string; remove(): Promise<void> }> {
  await mkdir(join(place, '.cache'), { recursive: true });
  const path = await mkdtemp(join(place, '.cache', 'guide-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Writes a guide's code as JavaScript, bundled with the host package's sources and the reader's
 * part.
 */
export async function writeCode(code: string, file: string): Promise<void> {
  const result = await build({
    stdin: { contents: code, resolveDir: room, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['source'],
    external: ['express', 'fastify', 'hono', '@hono/node-server', 'next'],
    plugins: [yourAppPlugin],
  });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, result.outputFiles[0]?.text ?? '');
}

const yourAppPlugin: Plugin = {
  name: 'your-app',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/your-app\.js$/ }, ({ path }) => ({ path, namespace: 'your-app' }));
    bundler.onLoad({ filter: /./, namespace: 'your-app' }, () => ({ contents: yourApp }));
  },
};

/** Runs `node ...args` and waits until it responds at `origin`. */
export async function start(args: string[], cwd: string, env: Record<string, string>, origin: string) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  while (!(await answers(origin))) {
    if (child.exitCode !== null) throw new Error(`The guide's server ended:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { stop: () => stop(child) };
}

async function answers(origin: string): Promise<boolean> {
  return fetch(origin).then(
    () => true,
    () => false,
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}
