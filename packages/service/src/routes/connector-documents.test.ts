import { isDeepStrictEqual } from 'node:util';
import { exampleConfig } from '@connector-frame/catalog';
import { withDefaults } from '@connector-frame/catalog/validate';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allTypes, writePath } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { sampleOf } from '../../../../test/support/every-type/type-sample.js';
import { longOr } from '../../../../test/support/long.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await createTestService({ database: await anyDatabase().open() });
  acme = await service.tenant('Northwind');
});
afterAll(() => service.close());

// The short run takes other types each day. They share most of their fields.
const types = longOr(allTypes(), sampleOf(allTypes(), { seed: new Date().toISOString().slice(0, 10), oneIn: 12 }));

it.each(types.map((type) => [`${type.kind} ${type.type_id}`, type] as const))(
  'POST, PUT and PATCH store the same document, and a second PUT changes nothing: %s',
  async (_, type) => {
    const { settings, secrets } = exampleConfig(type.config);
    if ('kv_lookup_output_id' in settings)
      settings['kv_lookup_output_id'] = (await createEnrichments(service, acme.team, acme.key)).component_id;
    // What a client must write: no setting that has a default.
    const defaults = withDefaults(type.config).settings;
    const written = Object.entries(settings).filter(([key, value]) => !isDeepStrictEqual(defaults[key], value));
    const values = Object.fromEntries(Object.entries(secrets).map(([field, value]) => [field, { value }]));
    const config = { settings: Object.fromEntries(written), secrets: values };
    const body = { name: type.name, type: type.type_id, config };
    const path = writePath(acme.team, type.kind);
    const send = (method: string, at: string, sent: object) => service.call(method, at, { key: acme.key, body: sent });
    const made = await send('POST', path, body);
    expect(made.status, made.text).toBe(200);
    expect(made.body.config.settings).toEqual(config.settings);
    const one = `${path}/${made.body.id}`;
    for (const [method, sent] of [
      ['PUT', body],
      ['PUT', { ...body, config: { ...config, secrets: {} } }],
      ['PATCH', { config: { settings: config.settings } }],
    ] as const) {
      const { status, body: stored, text } = await send(method, one, sent);
      expect([method, status], text).toEqual([method, 200]);
      const { id, name, description, created_at } = made.body;
      expect(stored).toMatchObject({ id, type: type.type_id, name, description, created_at });
      expect(stored.config.settings).toEqual(config.settings);
      expect(Object.keys(stored.config.secrets).sort()).toEqual(Object.keys(made.body.config.secrets).sort());
    }
  },
);
