import { createDecipheriv } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../../test/support/databases.js';
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
describe.each(eachDatabase())('the rotation of a shared secret on $name', (databases) => {
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

  it('reaches the transforms that encrypt with it, and no other secret takes its place', async () => {
    const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const make = (name: string, key: Buffer) =>
      send('POST', '/v2/~/secrets', { name, value: key.toString('base64'), destinations: [{ kind: 'transform' }] });
    const { id: secret } = await make('Key', first);
    const operation = { operation: 'encrypt', arguments: { key: 'a' }, secrets: { encryption_key: { id: secret } } };
    const { id: transform } = await send('POST', '/v2/~/transforms', {
      name: 'T',
      config: { operations: [operation] },
    });
    const vendor = await startVendor(() => ({}));
    const config = { settings: { endpoint: vendor.origin, method: 'POST', payload_structure: 'array' } };
    const { id: output } = await send('POST', '/v2/~/outputs', { name: 'out', type: 'http', config });
    const { id: input } = await send('POST', '/v2/~/inputs', { name: 'in', type: 'monad-http', config: {} });
    const nodes = [
      { slug: 'in', component_id: input, component_type: 'input' },
      { slug: 'encrypt', component_id: transform, component_type: 'transform' },
      { slug: 'out', component_id: output, component_type: 'output' },
    ];
    const edges = [
      { from_node_instance_id: 'in', to_node_instance_id: 'encrypt' },
      { from_node_instance_id: 'encrypt', to_node_instance_id: 'out' },
    ];
    const { id: pipeline } = await send('POST', '/v2/~/pipelines', { name: 'P', nodes, edges });
    const texts = () => vendor.requests.flatMap(({ body }): { a: string }[] => JSON.parse(body)).map(({ a }) => a);

    await service.engine?.append(input, ['{"a":"one"}']);
    await expect.poll(texts).toHaveLength(1);
    expect(decrypt(texts()[0], first)).toBe('one');
    await send('PATCH', `/v2/~/secrets/${secret}`, { value: second.toString('base64') });
    const isNew = async () => {
      await service.engine?.append(input, ['{"a":"two"}']);
      await expect.poll(texts).not.toHaveLength(1);
      return texts().some((text) => decrypt(text, second) === 'two');
    };
    await expect.poll(isNew).toBe(true);

    // Someone with write access to the database refers to a secret that is not for transforms.
    const other = await send('POST', '/v2/~/secrets', { name: 'Other', value: first.toString('base64') });
    await service.database.script((run) =>
      run(
        `update transforms set config = replace(config::text, '${secret}', '${other.id}')::jsonb where id = '${transform}'`,
      ),
    );
    await send('PATCH', `/v2/~/transforms/${transform}`, { name: 'Renamed' });
    const status = async () => (await send('GET', `/v2/~/pipelines/${pipeline}/status`)).last_error?.code;
    await expect.poll(status).toBe('secret_unreadable');
    await vendor.close();
  });
});

/** Decrypts what the operation `encrypt` documents: nonce, ciphertext and tag in base64. */
function decrypt(text: string | undefined, key: Buffer): string | undefined {
  const bytes = Buffer.from(text ?? '', 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(-16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
