import { exampleConfig, loadCatalog } from '@connector-frame/catalog';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asWrite } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

/**
 * An address can be a secret itself, such as a connection string. A new address must not receive
 * the kept password (S03).
 */
const types = (['input', 'output'] as const)
  .flatMap((kind) => loadCatalog().list(kind))
  .flatMap((type) => {
    const { secrets } = exampleConfig(type.config, { optional: true });
    const addresses = Object.keys(secrets).filter((key) => type.config.secrets.properties[key]?.['x-destination']);
    const others = Object.keys(secrets).filter((key) => !addresses.includes(key));
    return addresses.length > 0 && others.length > 0
      ? [{ name: `${type.kind} ${type.type_id}`, type, addresses, others }]
      : [];
  });

describe('a destination that is a secret (S03)', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(() => service.store.close());

  it('exists in the catalog', () => {
    expect(types.map(({ name }) => name)).toContain('input mongodb');
  });

  it.each(types)('$name: a change requires the other secrets again', async ({ type, addresses, others }) => {
    const path = `/v2/${acme.team}/${type.kind}s`;
    const example = exampleConfig(type.config, { optional: true });
    const body = { name: 'Kept', type: type.type_id, config: asWrite(example) };
    const made = await service.call('POST', path, { key: acme.key, body });
    expect(made.status, made.text).toBe(200);
    const before = JSON.stringify(await service.store.secrets.ofConnector(made.body.id));
    const all = asWrite(example).secrets;
    const address = Object.fromEntries(addresses.map((key) => [key, all[key]]));

    const moved = await service.call('PATCH', `${path}/${made.body.id}`, {
      key: acme.key,
      body: { config: { secrets: address } },
    });
    expect([moved.status, moved.body.error_type]).toEqual([422, 'secret_reentry_required']);
    const { issues } = moved.body.additional_details;
    expect(issues).toEqual(others.map((key) => ({ path: `/secrets/${key}`, code: 'required' })));
    expect(JSON.stringify(await service.store.secrets.ofConnector(made.body.id))).toBe(before);

    const whole = await service.call('PATCH', `${path}/${made.body.id}`, {
      key: acme.key,
      body: { config: { secrets: all } },
    });
    expect(whole.status, whole.text).toBe(200);
    const password = Object.fromEntries(others.map((key) => [key, all[key]]));
    const kept = await service.call('PATCH', `${path}/${made.body.id}`, {
      key: acme.key,
      body: { config: { secrets: password } },
    });
    expect(kept.status, kept.text).toBe(200);
  });
});
