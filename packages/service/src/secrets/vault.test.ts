import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { embedded, postgresql } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { systemClock } from '../clock.js';
import { wantedMasterKeys } from '../store/open-database.js';
import type { StoredSecret } from '../store/store.js';
import { SealError } from './cipher.js';
import { masterKey } from './master-key.js';
import { checkMasterKey, MasterKeyError, openVault } from './vault.js';

describe.each([embedded(), postgresql()])('the vault on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let secret: StoredSecret;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const made = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body });
    const [stored] = await service.store.secrets.ofConnector(made.body.id);
    if (!stored) throw new Error('no secret');
    secret = stored;
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it('opens no secret that was moved to another organization, connector or field (S12)', async () => {
    const mine = await service.vault.ofOrganization(service.store, acme.team);
    const theirs = await service.vault.ofOrganization(service.store, acme.id);
    expect(mine.open(secret, secret.sealed)).toEqual(expect.any(String));
    expect(() => theirs.open(secret, secret.sealed)).toThrow(SealError);
    expect(() => mine.open({ ...secret, connectorId: 'other' }, secret.sealed)).toThrow(SealError);
    expect(() => mine.open({ ...secret, field: 'other' }, secret.sealed)).toThrow(SealError);
  });

  it('opens nothing when rows were moved in the database, and tells nobody', async () => {
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const other = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body });
    await service.database.script((run) =>
      run(
        `update secrets set sealed = (select sealed from secrets where id = '${secret.id}') where connector_id = '${other.body.id}'`,
      ),
    );
    const test = { type: body.type, config: { settings: body.config.settings }, id: other.body.id };
    const answer = await service.call('POST', `/v2/${acme.team}/inputs/test-connection`, { key: acme.key, body: test });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: 'Something went wrong on our side.',
      error_type: 'internal_error',
      code: 500,
      additional_details: { request_id: answer.headers.get('request-id') },
    });
    expect(service.log.join('')).toContain('SealError');
  });

  it('changes the master key: every secret opens with the new one, and the old one is not wanted any more', async () => {
    const current = masterKey(randomBytes(32));
    const renewed = await openVault(service.store, { current, previous: service.master }, systemClock);
    expect(await wantedMasterKeys(service.database)).toEqual([current.id]);
    const vault = await renewed.ofOrganization(service.store, acme.team);
    expect(vault.open(secret, secret.sealed)).toEqual(expect.any(String));
    // API keys are recognized by an HMAC that must outlive the master key.
    expect(renewed.digest('api-key', acme.key)).toEqual(service.vault.digest('api-key', acme.key));
    expect(await service.vault.check(service.store)).toBe(false);
    expect(await renewed.check(service.store)).toBe(true);

    const again = await openVault(service.store, { current, previous: service.master }, systemClock);
    expect(await again.check(service.store)).toBe(true);
    await openVault(service.store, { current: service.master, previous: current }, systemClock);
  });

  it('refuses another key, says which one it wants, and writes nothing (R13)', async () => {
    const before = await service.database.script((run) => run('select * from data_keys order by id'));
    const wrong = masterKey(randomBytes(32));
    await expect(openVault(service.store, { current: wrong }, systemClock)).rejects.toThrow(service.master.id);
    const alsoWrong = { current: wrong, previous: masterKey(randomBytes(32)) };
    await expect(openVault(service.store, alsoWrong, systemClock)).rejects.toThrow(MasterKeyError);
    expect(() => checkMasterKey([service.master.id], {})).toThrow('MASTER_KEY is not set');
    expect(await service.database.script((run) => run('select * from data_keys order by id'))).toEqual(before);
  });
});
