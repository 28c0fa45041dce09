import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '@connector-frame/catalog';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eachDatabase, postgresql } from '../../../../test/support/databases.js';
import {
  format1Connector,
  format1Connectors,
  format1Master,
  restoreAll,
  restoreRows,
  upgraded,
} from '../../../../test/support/format-1.js';
import { createTestService, type TestService } from '../../../../test/support/service.js';
import { openStored } from '../../../../test/support/stored-secrets.js';
import { systemClock } from '../clock.js';
import type { Database } from '../store/database.js';
import { SealError } from './cipher.js';
import { migrateFormat1 } from './migrate-format-1.js';
import { masterKey } from './master-key.js';
import { DestinationError, openVault } from './vault.js';

const http = format1Connector('http');
const EVIL = 'https://evil.example/in';

const leave = (
  { store, vault, logger }: Pick<TestService, 'store' | 'vault' | 'logger'>,
  signal = new AbortController().signal,
) => migrateFormat1({ store, vault, catalog: loadCatalog(), log: logger, signal });

describe.each(eachDatabase())('secrets in format 1 on $name', (databases) => {
  let database: Database;
  let service: TestService;

  beforeAll(async () => {
    database = await upgraded(await databases.empty());
  });
  beforeEach(async () => {
    await restoreAll(database);
    service = await createTestService({ database, master: format1Master() });
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });

  const script = (sql: string) => database.script((run) => run(sql));
  const formats = async () => {
    const rows = await script(
      'select get_byte(sealed, 0) as format, destination is null as bound, count(*)::int as n from secrets group by 1, 2 order by 1',
    );
    return rows.map(({ format, bound, n }) => ({ format, bound, n }));
  };
  const ALL = 9;
  const expectAllOpen = async (from: Pick<TestService, 'store' | 'vault'> = service) => {
    for (const { id, team, secrets } of format1Connectors()) expect(await openStored(from, team, id)).toEqual(secrets);
  };
  const edit = (settings: object, id = http.id) =>
    script(`update connectors set settings = settings || '${JSON.stringify(settings)}' where id = '${id}'`);
  /** Returns a function that calls the API of the recorded organization with one of its keys. */
  const caller = async () => {
    const { key, team } = await service.tenant('Northwind');
    expect(team).toBe(http.team);
    return (method: string, path: string, body: object) => service.call(method, `/v2/${team}${path}`, { key, body });
  };

  it('can be opened, and are resealed by the first write that keeps them', async () => {
    expect(await formats()).toEqual([{ format: 1, bound: false, n: ALL }]);
    await expectAllOpen();
    const call = await caller();
    const kept = format1Connectors().filter(({ team }) => team === http.team);
    for (const { id, kind, settings } of kept) {
      const answer = await call('PATCH', `/${kind}s/${id}`, { config: { settings } });
      expect(answer.status, answer.text).toBe(200);
    }
    const sealed = kept.reduce((count, { secrets }) => count + Object.keys(secrets).length, 0);
    expect(await formats()).toEqual([
      { format: 1, bound: false, n: ALL - sealed },
      { format: 2, bound: true, n: sealed },
    ]);
    await expectAllOpen();
  });

  it('must be entered again if the first write changes a newly marked field', async () => {
    const call = await caller();
    const settings = { ...http.settings, tls_skip_verify: true };
    const test = { type: 'http', config: { settings, secrets: {} }, id: http.id };
    for (const answer of [
      await call('PATCH', `/outputs/${http.id}`, { config: { settings } }),
      await call('POST', '/outputs/test-connection', test),
    ])
      expect([answer.status, answer.body.error_type]).toEqual([422, 'secret_reentry_required']);
    expect(await formats()).toEqual([{ format: 1, bound: false, n: ALL }]);
  });

  it('are resealed by the engine when it opens them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engine-'));
    const run = { folder, limits: { grace: 500 } };
    const running = await createTestService({ database, master: format1Master(), run });
    const { key, team } = await running.tenant('Northwind');
    const call = (method: string, path: string, body?: object) =>
      running.call(method, `/v2/${team}${path}`, { key, ...(body && { body }) });
    const input = await call('POST', '/inputs', { name: 'In', type: 'monad-http', config: { settings: {} } });
    const integration = { input_id: input.body.id, name: 'P', output: { id: http.id } };
    const built = await call('POST', '/integrations', integration);
    const status = async () => (await call('GET', `/pipelines/${built.body.pipeline_id}/status`)).body;
    await expect.poll(status).toMatchObject({ status: 'Running' });
    expect(await formats()).toEqual([
      { format: 1, bound: false, n: ALL - 1 },
      { format: 2, bound: true, n: 1 },
    ]);
    expect(await openStored(running, http.team, http.id)).toEqual(http.secrets);
    // The next test uses the database, so only the engine is closed.
    await running.engine?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('are all resealed in the background; after that the old format is rejected permanently', async () => {
    await leave(service);
    expect(await formats()).toEqual([{ format: 2, bound: true, n: ALL }]);
    await expectAllOpen();
    const labels = await script(
      `select distinct encode(substring(wrapped from 1 for 3), 'hex') as label from data_keys`,
    );
    expect(labels).toEqual([{ label: '020000' }]);
    expect(await service.vault.rejectFormat1(service.store)).toBe(0);

    // A row restored from an old dump, in its own place and with its own settings.
    await restoreRows(database, 'secrets', ({ connector_id: id }) => id === http.id);
    await expect(openStored(service, http.team, http.id)).rejects.toThrow(SealError);
    // The same row, with the attacker's endpoint in the settings.
    await edit({ endpoint: EVIL });
    await expect(openStored(service, http.team, http.id)).rejects.toThrow(SealError);
    const call = await caller();
    const test = { type: 'http', config: { settings: { ...http.settings, endpoint: EVIL }, secrets: {} }, id: http.id };
    expect(await call('POST', '/outputs/test-connection', test)).toMatchObject({
      status: 422,
      body: { error_type: 'secret_unreadable' },
    });
    // A restart does not accept format 1 again either.
    const again = await openVault(service.store, { current: format1Master() }, systemClock);
    await leave({ ...service, vault: again });
    await expect(openStored({ ...service, vault: again }, http.team, http.id)).rejects.toThrow(SealError);
    expect(await again.rejectFormat1(service.store)).toBe(0);
  });

  it('do not open for another destination, before or after resealing', async () => {
    await edit({ endpoint: EVIL });
    await expect(openStored(service, http.team, http.id)).rejects.toThrow(DestinationError);
    await leave(service);
    expect(await formats()).toEqual([{ format: 2, bound: true, n: ALL }]);
    expect(service.log.join('')).toContain('secret was stored for another destination');
    await expect(openStored(service, http.team, http.id)).rejects.toThrow(DestinationError);
    // The digest from the row is now sealed with the secret: another destination's digest in the
    // column has no effect.
    await script(`update secrets set destination = null where connector_id = '${http.id}'`);
    await expect(openStored(service, http.team, http.id)).rejects.toThrow(DestinationError);
    await edit({ endpoint: http.settings['endpoint'] });
    expect(await openStored(service, http.team, http.id)).toEqual(http.secrets);
    const call = await caller();
    expect((await call('PATCH', `/outputs/${http.id}`, { config: { settings: http.settings } })).status).toBe(200);
    expect(await openStored(service, http.team, http.id)).toEqual(http.secrets);
  });

  it('of an unknown type or with a damaged ciphertext do not block the others', async () => {
    const [okta, kafka] = [format1Connector('okta-systemlog'), format1Connector('kafka')];
    await script(`update connectors set type = 'gone' where id = '${okta.id}'`);
    const flipped = 'set_bit(sealed, 100, 1 - get_bit(sealed, 100)), destination = null';
    await script(`update secrets set sealed = ${flipped} where connector_id = '${kafka.id}'`);
    await restoreRows(database, 'secrets', ({ connector_id: id }) => id === http.id);
    await database.script(async (run) => {
      await run('alter table secrets drop constraint secrets_destination_is_sealed');
      await run(`update secrets set destination = 'x', sealed = '\\x01' where connector_id = '${http.id}'`);
      await run(
        'alter table secrets add constraint secrets_destination_is_sealed check (destination is null) not valid',
      );
    });
    await leave(service);
    expect(await service.vault.rejectFormat1(service.store)).toBe(0);
    for (const { id, team, secrets } of format1Connectors())
      if (![okta.id, kafka.id, http.id].includes(id)) expect(await openStored(service, team, id)).toEqual(secrets);
    await expect(openStored(service, kafka.team, kafka.id)).rejects.toThrow(SealError);
    await expect(openStored(service, http.team, http.id)).rejects.toThrow(SealError);
    // A later release may support the type again.
    await script(`update connectors set type = 'okta-systemlog' where id = '${okta.id}'`);
    expect(await openStored(service, okta.team, okta.id)).toEqual(okta.secrets);
  });

  it('of an organization with a damaged data key do not block other organizations', async () => {
    const broken = 'set_bit(wrapped, 100, 1 - get_bit(wrapped, 100))';
    await script(`update data_keys set wrapped = ${broken} where organization_id = '${http.team}'`);
    await leave(service);
    expect(service.log.join('')).toContain('"name":"SealError"');
    const others = format1Connectors().filter(({ team }) => team !== http.team);
    expect(others.length).toBeGreaterThan(0);
    for (const { id, team, secrets } of others) expect(await openStored(service, team, id)).toEqual(secrets);
    const left = await script(
      `select distinct c.organization_id as id from secrets s join connectors c on c.id = s.connector_id where get_byte(s.sealed, 0) = 1`,
    );
    expect(left).toEqual([{ id: http.team }]);
  });

  it('are not resealed after an abort, but by the next run', async () => {
    const stopped = AbortSignal.abort();
    await leave(service, stopped);
    expect(await formats()).toEqual([{ format: 1, bound: false, n: ALL }]);
    await leave(service);
    expect(await formats()).toEqual([{ format: 2, bound: true, n: ALL }]);
  });

  it('cannot be inserted by a replica of the earlier release', async () => {
    const copy = `insert into secrets select 'new', organization_id, connector_id, 'other', name, description, key_id, sealed, destination, created_at, updated_at from secrets where connector_id = '${http.id}'`;
    await expect(script(copy)).rejects.toThrow();
    expect(await formats()).toEqual([{ format: 1, bound: false, n: ALL }]);
  });

  it('open with a new master key, but not from an old dump after the previous key was removed', async () => {
    const call = await caller();
    await call('PATCH', `/outputs/${http.id}`, { config: { settings: http.settings } });
    expect((await formats()).map(({ format }) => format)).toEqual([1, 2]);
    const current = masterKey(randomBytes(32));
    const renewed = await openVault(service.store, { current, previous: format1Master() }, systemClock);
    await expectAllOpen({ ...service, vault: renewed });
    // Rewrapping does not end format 1 for an organization that still needs it.
    const still = await openVault(service.store, { current }, systemClock);
    await expectAllOpen({ ...service, vault: still });
    await leave({ ...service, vault: still });
    await expectAllOpen({ ...service, vault: still });

    // Restores the secrets together with their data keys from an old dump. Those data keys were
    // wrapped by a master key that is no longer configured.
    await restoreRows(database, 'data_keys', ({ organization_id: id }) => id === http.team);
    await restoreRows(database, 'secrets', ({ connector_id: id }) => id === http.id);
    await script(`update data_keys set master_key_id = '${current.id}'`);
    const later = await openVault(service.store, { current }, systemClock);
    await expect(openStored({ ...service, vault: later }, http.team, http.id)).rejects.toThrow(SealError);
  });
});

describe('two replicas on a database of the earlier release', () => {
  const databases = postgresql();
  afterAll(() => databases.close());

  it('reseal all secrets concurrently, and both reject format 1 afterward', async () => {
    const database = await upgraded(await databases.empty());
    const [one, two] = await Promise.all([0, 1].map(() => createTestService({ database, master: format1Master() })));
    if (!one || !two) throw new Error('no service');
    // One replica has already used the keys.
    for (const { id, team, secrets } of format1Connectors()) expect(await openStored(two, team, id)).toEqual(secrets);
    await Promise.all([leave(one), leave(two)]);
    for (const each of [one, two])
      for (const { id, team, secrets } of format1Connectors())
        expect(await openStored(each, team, id)).toEqual(secrets);
    await restoreRows(database, 'secrets', ({ connector_id: id }) => id === http.id);
    for (const each of [one, two]) await expect(openStored(each, http.team, http.id)).rejects.toThrow(SealError);
    await database.close();
  });
});
