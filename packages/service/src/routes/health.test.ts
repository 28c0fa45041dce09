import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type TestService } from '../../../../test/support/service.js';
import { systemClock } from '../clock.js';
import { masterKey } from '../secrets/master-key.js';
import { createReadiness } from '../readiness.js';
import { openVault } from '../secrets/vault.js';

describe.each(eachDatabase())('health on $name (R12)', (databases) => {
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService({
      database: await databases.open(),
      settings: { metricsToken: 'a-token-for-metrics' },
    });
  });
  afterAll(() => databases.close());

  const ready = async () => {
    const { status, body } = await service.call('GET', '/readyz');
    return [status, body.checks ?? body.additional_details.checks];
  };
  const fine = { database: 'ok', schema: 'ok', master_key: 'ok' };

  it('is ready if the database, the schema and the master key are valid', async () => {
    expect(await ready()).toEqual([200, fine]);
  });

  it('is not ready on an unknown schema version', async () => {
    const known = await service.store.schemaVersion();
    await service.database.script((run) => run(`insert into schema_migrations values (999, 'later')`));
    expect(await ready()).toEqual([503, { ...fine, schema: `version 999, not ${known}` }]);
    await service.database.script((run) => run('delete from schema_migrations where version = 999'));
  });

  it('is not ready when another master key is in use', async () => {
    const current = masterKey(randomBytes(32));
    await openVault(service.store, { current, previous: service.master }, systemClock);
    expect(await ready()).toEqual([503, { ...fine, master_key: 'another key is in use' }]);
    await openVault(service.store, { current: service.master, previous: current }, systemClock);
  });

  it('counts requests by route, not by path', async () => {
    const { id, key, team } = await service.tenant('Northwind');
    await service.call('GET', `/v1/${team}/inputs/canary-in-an-address`, { key });
    await service.session({ id, key, team });
    expect((await service.call('GET', '/metrics')).status).toBe(401);
    const { status, text, headers } = await service.call('GET', '/metrics', {
      headers: { authorization: 'Bearer a-token-for-metrics' },
    });
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')]);
    expect(text).toContain(
      'http_request_duration_seconds_count{method="GET",route="/v1/{org}/inputs/{id}",status="404"} 1',
    );
    expect(text).toContain('sessions_minted_total 1');
    expect(text).not.toMatch(new RegExp(`canary|${team}|${key}`));
  });

  it('is not ready once it stops, but alive without a database', async () => {
    service.readiness.stop();
    expect(await ready()).toEqual([503, { process: 'stopping' }]);
    await service.store.close();
    expect((await service.call('GET', '/livez')).body).toEqual({ status: 'ok' });
  });

  it('reports a database that does not respond', async () => {
    const other = await createTestService({ database: await databases.open() });
    await other.store.close();
    const { status, body } = await other.call('GET', '/readyz');
    expect([status, body.additional_details.checks.database]).toEqual([503, 'no response']);
  });
});

it('is degraded, and still ready, if only a check fails that is not required', async () => {
  const stuck = new Promise<string>(() => undefined);
  const readiness = createReadiness([
    { name: 'database', required: true, run: () => 'ok' },
    { name: 'disk', required: false, run: () => 'full' },
    { name: 'engine', required: false, run: () => stuck },
  ]);
  expect(await readiness.check()).toEqual({
    status: 'degraded',
    checks: { database: 'ok', disk: 'full', engine: 'no response' },
  });
});
