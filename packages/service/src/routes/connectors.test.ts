import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embedded, postgresql } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const okta = (config: object = {}) => ({
  name: 'Okta production',
  type: 'okta-systemlog',
  config: {
    settings: { org_url: 'https://acme.okta.com' },
    secrets: { api_key: { value: '00aVeryLongOktaTokenValue0001' } },
    ...config,
  },
});

describe.each([embedded(), postgresql()])('connectors on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it('creates, reads, lists', async () => {
    const made = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body: okta() });
    expect(made.status).toBe(200);
  });
});
