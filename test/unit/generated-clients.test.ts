/**
 * The clients of docs/guides/generated-clients.md, generated from the service's own document by
 * independent generators, do what the guide says.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../support/databases.js';
import { codeOf } from '../support/guides.js';
import { long } from '../support/long.js';
import { canIsolate, runIsolated } from '../support/network-namespace.js';
import { serve } from '../support/serve.js';
import { createTestService, type Tenant, type TestService } from '../support/service.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The workspace whose packages the guide names. */
const workspace = join(root, 'test/openapi-client');
const run = promisify(execFile);

interface Guide {
  tour(baseUrl: string, apiKey: string): Promise<unknown>;
}

let service: TestService;
let server: Awaited<ReturnType<typeof serve>>;
let acme: Tenant;
let folder: string;

beforeAll(async () => {
  service = await createTestService({ database: await anyDatabase().open() });
  const listener = getRequestListener(service.app.fetch);
  server = await serve((request, response) => void listener(request, response));
  acme = await service.tenant('Northwind');
  await mkdir(join(workspace, '.cache'), { recursive: true });
  folder = await mkdtemp(join(workspace, '.cache/client-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await server.close();
  await service.close();
});

describe('TypeScript', () => {
  it('the client of openapi-typescript compiles and runs as in the guide', async () => {
    const generator = join(workspace, 'node_modules/openapi-typescript/bin/cli.js');
    const [option = ''] = /--default\S+/.exec(await codeOf('generated-clients', 'generate.sh')) ?? [];
    const words = [generator, `${server.origin}/openapi.json`, option, '--output', 'connector-frame.ts'];
    await run(process.execPath, words, { cwd: folder });
    await writeFile(join(folder, 'client.ts'), await codeOf('generated-clients', 'client.ts'));
    const config = {
      extends: '../../../../tsconfig.base.json',
      compilerOptions: { noEmit: true, composite: false, lib: ['ES2023', 'DOM', 'DOM.Iterable'], types: [] },
      files: ['client.ts'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler, '--pretty', 'false', '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');

    const { tour }: Guide = await import(join(folder, 'client.ts'));
    expect(await tour(server.origin, acme.key)).toEqual({
      secret: 'API token',
      isListed: true,
      name: 'Okta production',
      isDeleted: true,
    });
    await expect(tour(server.origin, 'x'.repeat(20))).rejects.toThrow('API key');
  });
});

describe.runIf(long)('Python', () => {
  it('the client of openapi-python-client runs as in the guide', async () => {
    const python = await environment();
    const words = ['generate', '--url', `${server.origin}/openapi.json`, '--meta', 'none'];
    const output = join(folder, 'connector_frame');
    await run(join(python, 'openapi-python-client'), [...words, '--output-path', output], {
      env: { ...process.env, PATH: `${python}:${process.env['PATH']}` },
    });
    await writeFile(join(folder, 'client.py'), await codeOf('generated-clients', 'client.py'));
    const env = { ...process.env, SERVICE: server.origin, API_KEY: acme.key };
    const { stdout } = await run(join(python, 'python'), ['client.py'], { cwd: folder, env });
    expect(stdout).toBe("['api_key'] Okta production 200\n");
  });

  it.runIf(canIsolate)(
    'Schemathesis finds no 5xx, no undocumented response and no violation of a schema',
    async () => {
      const program = join(await environment(), 'st');
      const script = join(workspace, 'python/fuzz.mjs');
      const output = await runIsolated([process.execPath, script, program, join(folder, 'fuzz'), '25', seed]);
      expect(output).toMatch(/Test cases:\s+\d{4,} generated/);
    },
    3_600_000,
  );
});

/** Another one each day. */
const seed = process.env['SEED'] ?? String(Math.floor(Date.now() / 86_400_000));

/** Installs the Python tools, once for each list of them. Returns the folder of their programs. */
async function environment(): Promise<string> {
  const list = join(workspace, 'python/requirements.txt');
  const hash = createHash('sha256')
    .update(await readFile(list))
    .digest('hex')
    .slice(0, 12);
  const path = join(workspace, '.cache', `python-${hash}`);
  const programs = join(path, 'bin');
  if (existsSync(join(path, 'complete'))) return programs;
  await run('python3', ['-m', 'venv', path]);
  await run(join(programs, 'python'), ['-m', 'pip', 'install', '--quiet', '--requirement', list]);
  await writeFile(join(path, 'complete'), '');
  return programs;
}

it.runIf(long)('Go: the client of oapi-codegen compiles and runs as in the guide', async () => {
  const place = join(folder, 'go');
  await mkdir(join(place, 'api'), { recursive: true });
  for (const file of ['go.mod', 'go.sum']) await copyFile(join(workspace, 'go', file), join(place, file));
  await writeFile(join(place, 'main.go'), await codeOf('generated-clients', 'main.go'));
  await writeFile(join(place, 'openapi.json'), await (await service.app.request('/openapi.json')).text());
  const [, words = ''] = /^go tool (.*)$/m.exec(await codeOf('generated-clients', 'go.sh')) ?? [];
  await run('go', ['tool', ...words.split(' ')], { cwd: place });
  const env = { ...process.env, SERVICE: server.origin, API_KEY: acme.key };
  const { stdout } = await run('go', ['run', '.'], { cwd: place, env });
  expect(stdout).toBe('api_key Okta production 200\n');
});
