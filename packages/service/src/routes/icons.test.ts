import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCatalog } from '@connector-frame/catalog';
import { allTypes } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type TestService } from '../../../../test/support/service.js';

const databases = anyDatabase();
let service: TestService;

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
});
afterAll(() => service.store.close());

const headers = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
};

describe('icons', () => {
  it('are available to every origin and cached for a week, with and without a suffix', async () => {
    for (const name of ['okta-systemlog.svg', 'okta-systemlog', 'okta-systemlog.svg/']) {
      const icon = await service.call('GET', `/external/icons/raw/${name}`, {
        headers: { origin: 'https://any.example' },
      });
      expect(icon.status).toBe(200);
      expect(icon.text).toMatch(/^<svg /);
      expect(Object.fromEntries(icon.headers)).toEqual({
        ...headers,
        'content-type': 'image/svg+xml; charset=utf-8',
        'cache-control': 'public, max-age=604800, immutable',
        etag: expect.stringMatching(/^"[\w-]+"$/),
      });
      const known = { 'if-none-match': icon.headers.get('etag') ?? '' };
      expect((await service.call('GET', `/external/icons/raw/${name}`, { headers: known })).status).toBe(304);
    }
  });

  it('return 404 for unknown names and path traversal (S23)', async () => {
    const names = [
      'unknown',
      'UNKNOWN',
      'okta',
      '%2e%2e%2fpackage.json',
      '..%2f..%2fokta.svg',
      'okta-systemlog.svg.svg',
      'okta-systemlog%00.svg',
      '__proto__',
      'constructor.svg',
      'x'.repeat(65),
      '.svg',
      '-okta',
      'okta%20systemlog',
      '%E0%A4%A',
    ];
    for (const name of names) {
      const icon = await service.call('GET', `/external/icons/raw/${name}`);
      expect([name, icon.status, icon.text]).toEqual([name, 404, 'not found']);
      expect(icon.headers.get('access-control-allow-origin')).toBe('*');
      expect((await service.call('GET', `/external/icons/${name}`)).status).toBe(404);
    }
  });

  it('have a route that returns their name', async () => {
    const { status, body, headers: given } = await service.call('GET', '/external/icons/okta-systemlog');
    expect([status, body]).toEqual([200, { typeId: 'okta-systemlog', iconName: 'okta', fileName: 'okta.svg' }]);
    expect(given.get('access-control-allow-origin')).toBe('*');
  });

  it('are returned for every type with an icon, and 404 for the others', async () => {
    const { key } = await service.tenant('Northwind');
    const named = new Map<string, string | null>();
    for (const kind of ['inputs', 'outputs'])
      for (const { type_id, icon } of (await service.call('GET', `/v1/${kind}`, { key })).body)
        named.set(type_id, icon);
    expect([...named.keys()].sort()).toEqual([...new Set(allTypes().map(({ type_id }) => type_id))].sort());

    const catalog = loadCatalog();
    for (const [typeId, address] of named) {
      const name = catalog.iconName(typeId);
      const raw = await service.call('GET', `/external/icons/raw/${typeId}.svg`);
      const mapping = await service.call('GET', `/external/icons/${typeId}`);
      const told = [typeId, address && new URL(address).pathname, raw.status, raw.text, mapping.status, mapping.body];
      expect(told).toEqual(
        name === undefined
          ? [typeId, null, 404, 'not found', 404, expect.anything()]
          : [
              typeId,
              `/external/icons/raw/${typeId}.svg`,
              200,
              catalog.icon(typeId),
              200,
              { typeId, iconName: name, fileName: `${name}.svg` },
            ],
      );
    }
    // The name of an icon is the type's `icon`, not its id.
    for (const { type_id, icon } of allTypes()) expect(catalog.iconName(type_id)).toBe(icon);
  });
});
