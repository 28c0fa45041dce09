import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { assignPorts } from './ports.js';

describe.each(eachDatabase())('ports of listening inputs on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    const settings = { syslog: { publicHost: 'logs.example', ports: { first: 7_000, last: 7_003 } } };
    service = await createTestService({ database: await databases.open(), settings });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const make = (tenant: Tenant, type = 'monad-syslog') =>
    service.call('POST', `/v2/${tenant.team}/inputs`, {
      key: tenant.key,
      body: { name: 'x', type, config: { settings: {}, secrets: {} } },
    });
  const portOf = ({ body }: Awaited<ReturnType<typeof make>>): number => body.ingest?.port;
  const remove = (id: string) => service.call('DELETE', `/v1/${acme.team}/inputs/${id}`, { key: acme.key });

  it('are assigned once across organizations, the longest unused first, until none is left', async () => {
    const globex = await service.tenant('Globex');
    const made = await Promise.all([make(acme), make(globex), make(acme), make(globex)]);
    expect(made.map(portOf).toSorted((a, b) => a - b)).toEqual([7_000, 7_001, 7_002, 7_003]);
    expect(made[0]?.body.ingest).toEqual({
      url: `syslog://logs.example:${portOf(made[0])}`,
      host: 'logs.example',
      port: portOf(made[0]),
    });
    const refused = await make(acme);
    expect([refused.status, refused.body.error_type]).toEqual([409, 'no_port']);
    expect((await make(acme, 'monad-http')).status).toBe(200);

    // The port that has been free for longest comes first: senders of its previous connector may
    // still be active.
    const [first, , third] = made;
    for (const each of [third, first]) {
      if (each) await remove(each.body.id);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const again = [await make(acme), await make(acme)];
    expect(again.map(portOf)).toEqual([third, first].map((each) => each && portOf(each)));
    // The same applies when the whole organization is deleted.
    await service.call('DELETE', `/v3/${globex.id}/organizations/${globex.team}`, { key: globex.key });
    await new Promise((resolve) => setTimeout(resolve, 10));
    for (const each of again) await remove(each.body.id);
    const next = [await make(acme), await make(acme)].map(portOf);
    for (const port of again.map(portOf)) expect(next).not.toContain(port);
  });

  it('are assigned to existing connectors without a port while any are free', async () => {
    await make(acme);
    await service.database.script((run) => run(`update connectors set port = null where type = 'monad-syslog'`));
    const before = await service.store.connectors.withoutPort(['monad-syslog']);
    expect(before.length).toBeGreaterThan(2);
    const options = { range: { first: 8_000, last: 8_001 }, log: service.logger };
    await assignPorts(service.store, ['monad-syslog'], options);
    expect(await service.store.connectors.withoutPort(['monad-syslog'])).toHaveLength(before.length - 2);
    expect(service.log.join('')).toContain('no free port');
  });
});
