import { createHash } from 'node:crypto';
import { appendFile, cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { DROP_IN, DROP_IN_CATALOG, writeElement } from '../../../../test/support/drop-in.js';
import { createTestService, PUBLIC_URL, type TestService } from '../../../../test/support/service.js';
import { loadDropIn } from '../embed/drop-in.js';

const hashOf = (text: string) => `sha384-${createHash('sha384').update(text).digest('base64')}`;

let element: Awaited<ReturnType<typeof writeElement>>;
let service: TestService;

beforeAll(async () => {
  element = await writeElement();
  service = await createTestService({ database: await anyDatabase().open(), dropIn: await loadDropIn(element.folder) });
});
afterAll(async () => {
  await service?.store.close();
  await element.remove();
});

const get = (path: string, headers: Record<string, string> = {}) => service.app.request(path, { headers });
const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('the drop-in', () => {
  it('is available to every origin and cached permanently under its exact version', async () => {
    const answer = await get('/v/3.14.1/connector-frame.js');
    expect([answer.status, await answer.text()]).toEqual([200, DROP_IN]);
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      vary: 'Accept-Encoding',
    });
  });

  it('is revalidated under its major version, with 304 if it is unchanged', async () => {
    const answer = await get('/v/3/connector-frame.js');
    const etag = answer.headers.get('etag') ?? '';
    expect([answer.status, await answer.text()]).toEqual([200, DROP_IN]);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    for (const known of [etag, etag.slice(2), `"other", ${etag}`]) {
      const again = await get('/v/3/connector-frame.js', { 'if-none-match': known });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
      expect(again.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect((await get('/v/3/connector-frame.js', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('is compressed with Brotli or gzip according to Accept-Encoding', async () => {
    const brotli = await get('/v/3/connector-frame.js', { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(brotli.headers.get('content-encoding')).toBe('br');
    expect(brotliDecompressSync(await bytes(brotli)).toString()).toBe(DROP_IN);
    const gzip = await get('/v/3.14.1/connector-frame.js', { 'accept-encoding': 'gzip, br;q=0' });
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(await bytes(gzip)).toString()).toBe(DROP_IN);
  });

  it('has the picker in a separate file', async () => {
    const answer = await get('/v/3.14.1/connector-catalog.js');
    expect([answer.status, await answer.text()]).toEqual([200, DROP_IN_CATALOG]);
  });

  it('has a file with its licenses', async () => {
    const { status, headers, text } = await service.call('GET', '/v/3/connector-frame.LICENSE.txt');
    expect([status, text]).toEqual([200, 'BSD 3-Clause License']);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  it('returns 404 with the available versions for an unknown version', async () => {
    for (const version of ['3.14.0', '2', '3.14', 'latest', 'v3', '__proto__', '3.14.1%00']) {
      const { status, body, headers } = await service.call('GET', `/v/${version}/connector-frame.js`);
      expect([version, status]).toEqual([version, 404]);
      expect(body).toEqual({
        error: 'Unknown version. This service has 3.14.1 and 3.',
        error_type: 'not_found',
        code: 404,
        additional_details: { versions: ['3.14.1', '3'] },
      });
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    expect((await service.call('GET', '/v/3/package.json')).status).toBe(404);
  });

  it('has published integrity hashes', async () => {
    const { status, body, headers } = await service.call('GET', '/v/integrity.json');
    expect(status).toBe(200);
    expect(body).toEqual({
      '3.14.1': {
        'connector-frame.js': hashOf(DROP_IN),
        'connector-catalog.js': hashOf(DROP_IN_CATALOG),
        url: `${PUBLIC_URL}/v/3.14.1/connector-frame.js`,
      },
    });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it.each(['connector-frame.js', 'connector-catalog.js', 'connector-frame.LICENSE.txt'])(
    'gets a development version if %s differs from the release',
    async (name) => {
      const folder = `${element.folder}-${name}`;
      try {
        await cp(element.folder, folder, { recursive: true });
        const versions = [(await loadDropIn(folder)).version];
        for (const change of [' ', '\n']) {
          await appendFile(join(folder, 'dist', name), change);
          versions.push((await loadDropIn(folder)).version);
        }
        const development = expect.stringMatching(/^3\.14\.1-dev\.[0-9a-f]{16}$/);
        expect(versions).toEqual(['3.14.1', development, development]);
        expect(new Set(versions).size).toBe(3);

        const changed = await createTestService({
          database: await anyDatabase().open(),
          dropIn: await loadDropIn(folder),
        });
        const answers: [status: number, cacheControl: string | null][] = [];
        for (const version of ['3.14.1', versions[2], '3']) {
          const { status, headers } = await changed.app.request(`/v/${version}/connector-frame.js`);
          answers.push([status, headers.get('cache-control')]);
        }
        await changed.store.close();
        expect(answers).toEqual([
          [404, 'no-store'],
          [200, 'public, max-age=31536000, immutable'],
          [200, 'public, max-age=300'],
        ]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  it('gets a development version before its release', async () => {
    const folder = `${element.folder}-unreleased`;
    try {
      await cp(element.folder, folder, { recursive: true });
      await writeFile(join(folder, 'releases.json'), '{}');
      expect((await loadDropIn(folder)).version).toMatch(/^3\.14\.1-dev\.[0-9a-f]{16}$/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('causes an error with the build command if it is missing', async () => {
    await rm(join(element.folder, 'dist'), { recursive: true });
    await expect(loadDropIn(element.folder)).rejects.toThrow(/drop-in is not built.*Run "npm run build"/);
  });
});
