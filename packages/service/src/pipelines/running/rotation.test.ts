import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embedded, postgresql } from '../../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../../test/support/service.js';
import { startVendor, type Vendor } from '../../../../../test/support/vendor.js';

const keysSent = ({ requests }: Vendor) =>
  requests.filter(({ method }) => method === 'POST').map(({ headers }) => headers['x-key']);
const records = ({ requests }: Vendor): number[] =>
  requests
    .filter(({ method }) => method === 'POST')
    .flatMap(({ body }): { n: number }[] => JSON.parse(body))
    .map(({ n }) => n);

/** A secret that two outputs share is rotated once, while records pass. */
describe.each([embedded(), postgresql()])('the rotation of a shared secret on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open(), egressAllow: ['127.0.0.1/32'], run: {} });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });

  const send = async (method: string, path: string, body?: object) => {
    const response = await service.call(method, path.replace('~', acme.team), { key: acme.key, ...(body && { body }) });
    if (response.status >= 300) throw new Error(response.text);
    return response.body;
  };
  it('reaches all pipelines, loses nothing, and ends the use of the old value', async () => {
    const { id: secret } = await send('POST', '/v2/~/secrets', { name: 'Key', value: { 'x-key': 'old' } });
    const vendors = [await startVendor(() => ({})), await startVendor(() => ({}))];
    const { id: input } = await send('POST', '/v2/~/inputs', {
      name: 'in',
      type: 'monad-http',
      config: { settings: {} },
    });
    for (const { origin } of vendors) {
      const settings = { endpoint: origin, method: 'POST', payload_structure: 'array' };
      const config = { settings, secrets: { auth_headers: { id: secret } } };
      await send('POST', '/v2/~/integrations', { input_id: input, name: 'P', output: { type: 'http', config } });
    }

    let sent = 0;
    const over = new AbortController();
    const sending = (async () => {
      for (; !over.signal.aborted; await sleep(2)) {
        const appended = await service.engine?.append(input, [JSON.stringify({ n: sent })]);
        if (appended?.stored) sent += 1;
      }
    })();
    for (const vendor of vendors) await expect.poll(() => keysSent(vendor)).toContain('old');
    await send('PATCH', `/v2/~/secrets/${secret}`, { value: { 'x-key': 'new' } });
    for (const vendor of vendors) await expect.poll(() => keysSent(vendor)).toContain('new');
    over.abort();
    await sending;

    const all = Array.from({ length: sent }, (_, n) => n);
    for (const vendor of vendors) {
      await expect.poll(() => new Set(records(vendor)).size).toBe(sent);
      expect([...new Set(records(vendor))].sort((a, b) => a - b)).toEqual(all);
      const keys = keysSent(vendor);
      expect(keys.slice(keys.indexOf('new'))).not.toContain('old');
      await vendor.close();
    }
  });
});
