import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../test/support/free-port.js';
import { codeOf, makeFolder, start, writeCode } from '../../../test/support/guides.js';
import { long } from '../../../test/support/long.js';
import { nextProgram, nextRoom } from '../../../test/support/next.js';
import { startUpstream, usualAnswers } from '../../../test/support/upstream.js';

let upstream: Awaited<ReturnType<typeof startUpstream>>;
let folder: Awaited<ReturnType<typeof makeFolder>>;
/** Folder of the Next.js application. */
let nextFolder: typeof folder;

beforeAll(async () => {
  [folder, nextFolder] = await Promise.all([makeFolder(), makeFolder(nextRoom)]);
  upstream = await startUpstream({
    ...usualAnswers,
    'GET /v1/org-acme/inputs': { body: { inputs: [] } },
    'GET /v1/org-acme/inputs/i-1': {
      body: { id: 'i-1', component_of: [{ id: 'p-1', enabled: true, input_id: 'i-1', output_ids: ['o-1'] }] },
    },
    'GET /v2/org-acme/pipelines/p-1/status': { body: { status: 'Running' } },
    'POST /v2/org-acme/integrations': {
      status: 201,
      body: { pipeline_id: 'p-1', input_id: 'i-1', output_id: 'o-1', status: 'Running', enabled: true },
    },
    'POST /v2/org-acme/integrations/delete': { status: 204 },
  });
});
afterAll(async () => {
  await upstream.close();
  await Promise.all([folder.remove(), nextFolder.remove()]);
});
beforeEach(() => {
  upstream.seen.length = 0;
});

/** Tests that every guide's server must pass. */
function behaves(run: () => Promise<{ origin: string; stop(): Promise<void> }>): void {
  let server: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    server = await run();
  });
  afterAll(() => server.stop());
  const url = (path: string) => `${server.origin}${path}`;
  const signedIn = { cookie: 'tenant=acme' };
  const write = (route: string, body: object, headers: Record<string, string>) =>
    fetch(url(`/api/${route}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
      body: JSON.stringify(body),
    });
  const session = (tenantId: string, headers: Record<string, string>) => write('session', { tenantId }, headers);

  test('creates a session for the signed-in tenant', async () => {
    const answer = await session('acme', signedIn);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await answer.json()).toMatchObject({ session_token: 'token-1', organizationId: 'org-acme' });
    expect(upstream.seen[0]?.headers['authorization']).toBe('ApiKey key-1');
  });

  test('returns 200 for the configuration, the catalog and the tenant’s connectors', async () => {
    for (const path of ['/api/monad/config', '/api/catalog?kind=input', '/api/connectors?kind=input&tenantId=acme']) {
      expect((await fetch(url(path), { headers: signedIn })).status, path).toBe(200);
    }
  });

  test('returns 403 for another tenant and 401 without a login, without calling the service (S06)', async () => {
    const list = url('/api/connectors?kind=input&tenantId=');
    const deletion = { tenantId: 'globex', inputId: 'i-1', action: 'delete' };
    expect((await write('integration-action', deletion, signedIn)).status).toBe(403);
    expect((await write('build-pipeline', { ...deletion, inputName: 'Web' }, {})).status).toBe(401);
    expect((await session('globex', signedIn)).status).toBe(403);
    expect((await fetch(`${list}globex`, { headers: signedIn })).status).toBe(403);
    expect((await session('acme', {})).status).toBe(401);
    expect((await fetch(`${list}acme`)).status).toBe(401);
    expect(upstream.seen).toEqual([]);
  });

  test('rejects a cross-site write (S24)', async () => {
    const answer = await session('acme', { ...signedIn, 'sec-fetch-site': 'cross-site' });
    expect([answer.status, upstream.seen]).toEqual([403, []]);
  });

  test('returns 404 for other paths', async () => {
    expect((await fetch(url('/api/elsewhere'))).status).toBe(404);
  });
}

/** Runs `node ...args` in a folder, with the environment variables that the guides name. */
async function run(args: string[], { path } = folder) {
  const port = String(await freePort());
  const origin = `http://localhost:${port}`;
  const env = { PORT: port, SERVICE_URL: upstream.origin, SERVICE_API_KEY: 'key-1' };
  return { origin, ...(await start(args, path, env, origin)) };
}

describe.each(['express', 'fastify', 'hono'])('%s', (guide) => {
  behaves(async () => {
    const file = join(folder.path, `${guide}.mjs`);
    await writeCode(await codeOf(guide, 'server.ts'), file);
    return run([file]);
  });
});

describe.runIf(long)('nextjs', () => {
  behaves(async () => {
    const [next, { path }] = [nextProgram(), nextFolder];
    const route = 'app/api/[...path]/route.ts';
    await writeCode(await codeOf('nextjs', 'lib/host.ts'), join(path, 'lib/host.js'));
    await mkdir(join(path, dirname(route)), { recursive: true });
    await writeFile(join(path, route.replace(/ts$/, 'js')), await codeOf('nextjs', route));
    await writeFile(join(path, 'app/layout.js'), 'export default ({ children }) => children;');
    await promisify(execFile)(process.execPath, [next, 'build'], {
      cwd: path,
      env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    });
    return run([next, 'start'], nextFolder);
  });
});
