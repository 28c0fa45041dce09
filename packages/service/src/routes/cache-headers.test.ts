/** Cache-Control matches the README. Paths that the README does not mention send `no-store`. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { writeElement } from '../../../../test/support/drop-in.js';
import { formAssets } from '../../../../test/support/form-assets.js';
import { operationsOf } from '../../../../test/support/operations.js';
import { createTestService, PARENT, type Tenant, type TestService } from '../../../../test/support/service.js';
import { loadDropIn } from '../embed/drop-in.js';

const forEver = 'public, max-age=31536000, immutable';
const said: Record<string, string> = { 'five minutes': 'public, max-age=300', 'for ever': forEver };

/** Responses that may be cached. All other routes, public or not, send `no-store`. */
const kept: Record<string, { path: string; control: string }> = {
  readFormFile: { path: '/embed/assets/form-1a2b.js', control: forEver },
  readIcon: { path: '/external/icons/raw/okta-systemlog.svg', control: 'public, max-age=604800, immutable' },
  readDropIn: { path: '/v/3/connector-frame.js', control: 'public, max-age=300' },
  readDropInCatalog: { path: '/v/3/connector-catalog.js', control: 'public, max-age=300' },
  readDropInLicences: { path: '/v/3/connector-frame.LICENSE.txt', control: 'public, max-age=300' },
  readDropInIntegrity: { path: '/v/integrity.json', control: 'public, max-age=300' },
};
const paths: Record<string, string> = {
  readForm: `/embed/?parentOrigin=${PARENT}`,
  readIconName: '/external/icons/s3',
};

let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  const element = await writeElement();
  const [form, dropIn] = await Promise.all([formAssets(), loadDropIn(element.folder)]);
  await element.remove();
  service = await createTestService({ database: await anyDatabase().open(), form, dropIn });
  acme = await service.tenant('Northwind');
});
afterAll(() => service.store.close());

/**
 * Returns the rows of the README's table on the drop-in, with the version that this test serves.
 */
async function documented(): Promise<[address: string, keptFor: string][]> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const section = readme.split('\n## The drop-in\n')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `(\/v\/[^`]+)` +\| ([^|]+?) +\|/gm)].map(([, address = '', keptFor = '']) => [
    address.replace('/0.1.0/', '/3.14.1/').replace('/0/', '/3/'),
    keptFor,
  ]);
}

describe('Cache-Control', () => {
  it('of the drop-in matches the README, also in 304 responses', async () => {
    const rows = await documented();
    expect(rows.map(([address]) => address)).toEqual([
      '/v/3/connector-frame.js',
      '/v/3.14.1/connector-frame.js',
      '/v/integrity.json',
      '/v/3.14.1/connector-frame.LICENSE.txt',
    ]);
    for (const [address, keptFor] of rows) {
      const answer = await service.call('GET', address);
      expect([address, answer.status, answer.headers.get('cache-control')]).toEqual([address, 200, said[keptFor]]);
      const etag = answer.headers.get('etag');
      if (etag === null) continue;
      const again = await service.call('GET', address, { headers: { 'if-none-match': etag } });
      expect([again.status, again.headers.get('cache-control')]).toEqual([304, said[keptFor]]);
    }
  });

  it('of every public route has the expected value', async () => {
    for (const { id, method, path, isPublic } of await operationsOf(service.app)) {
      if (!isPublic) continue;
      const { path: at, control } = kept[id] ?? { path: paths[id] ?? path, control: 'no-store' };
      const answer = await service.call(method, at);
      // Sign-ins need a cookie, a form or a token; their errors are not kept either.
      const status = /\/(?:login|oauth)\b/.test(path) ? answer.status : 200;
      expect([id, answer.status, answer.headers.get('cache-control')]).toEqual([id, status, control]);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('of all other responses is no-store, including errors', async () => {
    const session = await service.session(acme);
    const answers = [
      await service.call('GET', '/v1/inputs', { session }),
      await service.call('GET', '/v1/inputs/okta-systemlog', { key: acme.key }),
      await service.call('GET', `/v1/${acme.team}/inputs`, { key: acme.key }),
      await service.call('GET', `/v1/${acme.team}/inputs`, { session }),
      await service.call('GET', '/openapi.json'),
      await service.call('GET', '/nowhere'),
      await service.call('OPTIONS', '/v1/inputs', { headers: { origin: 'https://evil.example' } }),
      await service.call('GET', '/v/99/connector-frame.js'),
      await service.call('GET', '/embed/assets/unknown.js'),
      await service.call('GET', '/embed/?parentOrigin=https://evil.example'),
      await service.call('GET', '/external/icons/raw/unknown.svg'),
    ];
    for (const { id, method, path, isPublic } of await operationsOf(service.app)) {
      if (isPublic) continue;
      const answer = await service.call(method, path.replaceAll(/\{\w+\}/g, acme.team));
      expect([id, answer.status]).toEqual([id, 401]);
      answers.push(answer);
    }
    for (const { status, headers } of answers) {
      expect([status, headers.get('cache-control')]).toEqual([status, 'no-store']);
    }
  });
});
