import { randomBytes } from 'node:crypto';
import type { ConnectorTypeData } from '@connector-frame/catalog';
import { setAt } from '@connector-frame/catalog/validate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allTypes, exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase, eachDatabase } from '../../../../test/support/databases.js';
import { movesOf } from '../../../../test/support/destinations.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { openStored, readConnector } from '../../../../test/support/stored-secrets.js';
import { systemClock } from '../clock.js';
import { requiredMasterKeyIds } from '../store/open-database.js';
import type { StoredSecret } from '../store/store.js';
import { labelOf, SealError } from './cipher.js';
import { createDestination, type Destination } from './destination.js';
import { masterKey } from './master-key.js';
import { openSecrets } from './open-secrets.js';
import { checkMasterKey, DestinationError, MasterKeyError, openVault } from './vault.js';

const okta = typeOf('input', 'okta-systemlog');

describe.each(eachDatabase())('the vault on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let secret: StoredSecret;
  let destination: Destination;

  const create = async (body: object, kind = 'inputs'): Promise<string> => {
    const made = await service.call('POST', `/v2/${acme.team}/${kind}`, { key: acme.key, body });
    if (typeof made.body.id !== 'string') throw new Error(made.text);
    return made.body.id;
  };
  const script = (sql: string) => service.database.script((run) => run(sql));
  /** Tests the connection of a connector with its stored secrets. */
  const test = (id: string, type: ConnectorTypeData, settings: object, kind = 'inputs') =>
    service.call('POST', `/v2/${acme.team}/${kind}/test-connection`, {
      key: acme.key,
      body: { type: type.type_id, config: { settings, secrets: {} }, id },
    });

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
    const body = exampleBody(okta);
    const [stored] = await service.store.secrets.ofConnector(await create(body));
    if (!stored) throw new Error('no secret');
    secret = stored;
    destination = createDestination(okta, body.config.settings, new Map());
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it('does not open a secret that was moved to another organization, connector or field (S12)', async () => {
    const mine = await service.vault.ofOrganization(service.store, acme.team);
    const theirs = await service.vault.ofOrganization(service.store, acme.id);
    expect(mine.open(secret, destination)).toEqual({ value: expect.any(String), isCurrent: true });
    expect(() => theirs.open(secret, destination)).toThrow(SealError);
    expect(() => mine.open({ ...secret, connectorId: 'other' }, destination)).toThrow(SealError);
    expect(() => mine.open({ ...secret, field: 'other' }, destination)).toThrow(SealError);
  });

  it.each<[name: string, change: string]>([
    ['that was copied from another connector', `(select sealed from secrets where id = '~')`],
    ['with one bit changed', 'set_bit(sealed, 8 * length(sealed) - 1, 1 - get_bit(sealed, 8 * length(sealed) - 1))'],
    ['with a changed header', 'set_byte(sealed, 10, get_byte(sealed, 10) + 1)'],
    ['that is truncated', 'substring(sealed from 1 for 20)'],
    ['that is empty', `''`],
    ['of an unknown format', 'set_byte(sealed, 0, 3)'],
  ])('returns secret_unreadable and logs a warning for a ciphertext %s (S12)', async (_name, change) => {
    const body = exampleBody(okta);
    const id = await create(body);
    await script(`update secrets set sealed = ${change.replace('~', secret.id)} where connector_id = '${id}'`);
    service.log.length = 0;
    const answers = [
      await test(id, okta, body.config.settings),
      await service.call('PATCH', `/v2/${acme.team}/inputs/${id}`, {
        key: acme.key,
        body: { config: { secrets: {} } },
      }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.body).toEqual({
        error: 'A stored secret was modified outside of the service and cannot be read. Enter it again.',
        error_type: 'secret_unreadable',
        code: 422,
        additional_details: { issues: [{ path: '/secrets/api_key', code: 'required' }] },
      });
    }
    const warnings = service.log
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === 'warn' || level === 40);
    expect(warnings).toMatchObject([{ error_type: 'secret_unreadable' }, { error_type: 'secret_unreadable' }]);
    // Requests that don't need the secret work, and a new value repairs it.
    const path = `/v2/${acme.team}/inputs/${id}`;
    expect((await service.call('PATCH', path, { key: acme.key, body: { name: 'Renamed' } })).status).toBe(200);
    const typed = { config: { secrets: { api_key: { value: `${'0'.repeat(41)}a` } } } };
    expect((await service.call('PATCH', path, { key: acme.key, body: typed })).status).toBe(200);
    expect(await openStored(service, acme.team, id)).toEqual({ api_key: `${'0'.repeat(41)}a` });
  });

  it('rejects a secret if its destination was changed in the database, and names the field (S33)', async () => {
    const body = exampleBody(okta);
    const id = await create(body);
    const evil = { ...body.config.settings, org_url: 'https://evil.okta.com' };
    await script(`update connectors set settings = '${JSON.stringify(evil)}' where id = '${id}'`);
    const path = `/v2/${acme.team}/inputs/${id}`;
    for (const answer of [
      await test(id, okta, evil),
      await service.call('PATCH', path, { key: acme.key, body: { config: { secrets: {} } } }),
      await service.call('PATCH', path, { key: acme.key, body: { config: { settings: evil } } }),
    ])
      expect(answer).toMatchObject({
        status: 422,
        body: {
          error_type: 'secret_destination_mismatch',
          additional_details: {
            issues: [{ path: '/secrets/api_key', code: 'required' }],
            changed: ['/settings/org_url'],
          },
        },
      });
    // Restoring the original address keeps the secret.
    const repaired = { config: { settings: body.config.settings } };
    const answer = await service.call('PATCH', path, { key: acme.key, body: repaired });
    expect(answer.status, answer.text).toBe(200);
    expect(Object.keys(await openStored(service, acme.team, id))).toEqual(['api_key']);
  });

  it('rejects a secret if the type of its connector was changed in the database (S33)', async () => {
    const body = exampleBody(okta);
    const id = await create(body);
    await script(`update connectors set type = 'okta-users' where id = '${id}'`);
    const { connector, secrets } = await readConnector(service.store, acme.team, id);
    const own = await service.vault.ofOrganization(service.store, acme.team);
    const moved = createDestination(typeOf('input', 'okta-users'), connector.settings, new Map());
    expect(secrets).toHaveLength(1);
    for (const row of secrets) expect(() => own.open(row, moved)).toThrow(DestinationError);
  });

  it('rejects a secret whose destination binding was forged (S33)', async () => {
    const own = await service.vault.ofOrganization(service.store, acme.team);
    const elsewhere = createDestination(okta, { org_url: 'https://evil.okta.com' }, new Map());
    expect(() => own.open(secret, elsewhere)).toThrow(DestinationError);
    const binding: [string, string][] = JSON.parse(labelOf(secret.sealed).header);
    expect(binding.map(([pointer]) => pointer)).toEqual(['type', '/settings/org_url']);
    const forged = [
      binding.slice(0, 1),
      [],
      binding.filter(([pointer]) => pointer !== 'type'),
      [...binding, ['/settings/gone', 'x']],
      [...binding].reverse(),
    ];
    for (const each of forged) {
      const sealed = withHeader(secret.sealed, JSON.stringify(each));
      expect(() => own.open({ ...secret, sealed }, elsewhere)).toThrow(SealError);
      expect(() => own.open({ ...secret, sealed }, destination)).toThrow(SealError);
    }
    for (const header of ['', 'null', '{}', '[1]', '[["type"]]', '[["type", 1]]', '{'])
      expect(() => own.open({ ...secret, sealed: withHeader(secret.sealed, header) }, destination)).toThrow(SealError);
  });

  it('binds the secrets of a connector to secrets that are destinations (S33)', async () => {
    const mongodb = typeOf('input', 'mongodb');
    const [first, second] = [exampleBody(mongodb), exampleBody(mongodb)];
    const id = await create(first);
    const address = { connection_string: { value: 'mongodb+srv://cluster0.other1.mongodb.net' } };
    const other = await create({
      ...second,
      config: { ...second.config, secrets: { ...second.config.secrets, ...address } },
    });
    const before = await readConnector(service.store, acme.team, id);
    const marked = before.secrets.find(({ field }) => field === 'connection_string');
    expect(before.secrets.map(({ field }) => field).sort()).toEqual(['connection_string', 'password']);

    // An older address of the same connector, from a backup, can be opened; the other secrets
    // can't.
    const both = { config: { secrets: { ...first.config.secrets, ...address } } };
    const changed = await service.call('PATCH', `/v2/${acme.team}/inputs/${id}`, { key: acme.key, body: both });
    expect(changed.status, changed.text).toBe(200);
    await script(
      `update secrets set sealed = '\\x${marked?.sealed.toString('hex')}' where connector_id = '${id}' and field = 'connection_string'`,
    );
    const { connector, secrets } = await readConnector(service.store, acme.team, id);
    const own = await service.vault.ofOrganization(service.store, acme.team);
    const { openings } = openSecrets(mongodb, connector.settings, secrets, own);
    expect(openings.get('connection_string')?.error).toBeUndefined();
    expect(openings.get('password')?.error).toMatchObject({ changed: ['/secrets/connection_string'] });

    // Secrets referenced by id are checked too: the password opens only with the address it was
    // sealed for.
    const [mine, theirs] = await Promise.all([id, other].map((each) => readConnector(service.store, acme.team, each)));
    const idOf = (from: typeof mine, field: string) => ({ id: from?.secrets.find((each) => each.field === field)?.id });
    const mixed = { connection_string: idOf(theirs, 'connection_string'), password: idOf(theirs, 'password') };
    const copy = (named: object) =>
      service.call('POST', `/v2/${acme.team}/inputs`, {
        key: acme.key,
        body: { ...first, config: { ...first.config, secrets: named } },
      });
    expect((await copy(mixed)).status).toBe(200);
    expect((await copy({ ...mixed, connection_string: idOf(mine, 'connection_string') })).status).toBe(400);
  });

  it('opens a secret sealed with fewer marks, and reseals it with all marks on first use', async () => {
    const http = typeOf('output', 'http');
    const body = {
      name: 'Old',
      type: 'http',
      config: {
        settings: { endpoint: 'https://logs.acme.com', method: 'POST', payload_structure: 'array' },
        secrets: { auth_headers: { value: { Authorization: 'Bearer 1' } } },
      },
    };
    const id = await create(body, 'outputs');
    const path = `/v2/${acme.team}/outputs/${id}`;
    const own = await service.vault.ofOrganization(service.store, acme.team);
    const bound = async () => {
      const { secrets } = await readConnector(service.store, acme.team, id);
      const [row] = secrets;
      if (!row) throw new Error('no secret');
      const pointers = JSON.parse(labelOf(row.sealed).header).map(([pointer]: [string]) => pointer);
      return { row, pointers };
    };
    /**
     * Reseals the secret like a release that marked only the endpoint and a field that no longer
     * exists.
     */
    const sealOld = async () => {
      const { row } = await bound();
      const all = createDestination(http, body.config.settings, new Map());
      const pointers = ['type', '/settings/endpoint', '/settings/gone'];
      const values = () => new Map([...all.values(pointers), ['/settings/gone', '"x"']]);
      const sealed = own.seal(row, { Authorization: 'Bearer 1' }, { ...all, pointers, values });
      await service.store.secrets.reseal([{ id: row.id, before: row.sealed, sealed }]);
      expect((await bound()).pointers).toEqual(pointers);
    };
    const marks = ['type', '/settings/endpoint', '/settings/tls_skip_verify'];
    expect((await bound()).pointers).toEqual(marks);

    await sealOld();
    expect(await openStored(service, acme.team, id)).toEqual({ auth_headers: { Authorization: 'Bearer 1' } });
    const tested = await test(id, http, body.config.settings, 'outputs');
    // The request gets as far as the egress guard.
    expect(['egress_refused', 'test_failed']).toContain(tested.body.error_type);
    expect((await bound()).pointers).toEqual(marks);

    await sealOld();
    const updated = (await bound()).row.updatedAt;
    const keep = { config: { settings: body.config.settings } };
    expect((await service.call('PATCH', path, { key: acme.key, body: keep })).status).toBe(200);
    expect((await bound()).pointers).toEqual(marks);
    expect((await bound()).row.updatedAt).toEqual(updated);

    // A mark that was added later takes effect immediately.
    await sealOld();
    const weaker = { config: { settings: { ...body.config.settings, tls_skip_verify: true } } };
    const refused = await service.call('PATCH', path, { key: acme.key, body: weaker });
    expect([refused.status, refused.body.error_type]).toEqual([422, 'secret_reentry_required']);
    // A mark that no longer exists has no effect; the remaining one still does.
    await script(
      `update connectors set settings = settings || '{"endpoint": "https://evil.example"}' where id = '${id}'`,
    );
    await expect(openStored(service, acme.team, id)).rejects.toMatchObject({ changed: ['/settings/endpoint'] });
  });

  it('opens a secret with a new master key and no longer requires the old one', async () => {
    const current = masterKey(randomBytes(32));
    const renewed = await openVault(service.store, { current, previous: service.master }, systemClock);
    expect(await requiredMasterKeyIds(service.database)).toEqual([current.id]);
    const vault = await renewed.ofOrganization(service.store, acme.team);
    expect(vault.open(secret, destination)).toEqual({ value: expect.any(String), isCurrent: true });
    // API keys are recognized by an HMAC that must not change with the master key.
    expect(renewed.digest('api-key', acme.key)).toEqual(service.vault.digest('api-key', acme.key));
    expect(await service.vault.check(service.store)).toBe(false);
    expect(await renewed.check(service.store)).toBe(true);

    const again = await openVault(service.store, { current, previous: service.master }, systemClock);
    expect(await again.check(service.store)).toBe(true);
    await openVault(service.store, { current: service.master, previous: current }, systemClock);
  });

  it('rejects another master key with the ID of the required one, and writes nothing (R13)', async () => {
    const before = await script('select * from data_keys order by id');
    const wrong = masterKey(randomBytes(32));
    await expect(openVault(service.store, { current: wrong }, systemClock)).rejects.toThrow(service.master.id);
    const alsoWrong = { current: wrong, previous: masterKey(randomBytes(32)) };
    await expect(openVault(service.store, alsoWrong, systemClock)).rejects.toThrow(MasterKeyError);
    expect(() => checkMasterKey([service.master.id], {})).toThrow('MASTER_KEY is not set');
    expect(await script('select * from data_keys order by id')).toEqual(before);
  });
});

/**
 * Replaces the header of a ciphertext, as an attacker with write access to the database but without
 * a key can do.
 */
function withHeader(sealed: Buffer, header: string): Buffer {
  const bytes = Buffer.from(header);
  const start = Buffer.from([2, bytes.length >> 8, bytes.length & 255]);
  return Buffer.concat([start, bytes, sealed.subarray(3 + sealed.readUInt16BE(1))]);
}

describe('fields that decide where or how secrets are sent (S33)', () => {
  const databases = anyDatabase();
  const moves = allTypes().flatMap(movesOf);
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(() => service.store.close());

  it('prevent opening the secret when their value changes', async () => {
    const vault = await service.vault.ofOrganization(service.store, acme.team);
    expect(moves.length).toBeGreaterThan(580);
    for (const { type, path, before, after } of moves) {
      const name = `${type.kind} ${type.type_id} ${path}`;
      const place = { connectorId: 'c', field: 'f' };
      const here = createDestination(type, before.settings, new Map());
      const sealed = vault.seal(place, 'value', here);
      expect(vault.open({ ...place, sealed, destination: null }, here), name).toEqual({
        value: 'value',
        isCurrent: true,
      });
      const there = createDestination(type, after.settings, new Map());
      expect(() => vault.open({ ...place, sealed, destination: null }, there), name).toThrow(DestinationError);
    }
  });

  it('are compared with their defaults if they are absent', async () => {
    const vault = await service.vault.ofOrganization(service.store, acme.team);
    const place = { connectorId: 'c', field: 'f' };
    let compared = 0;
    for (const { type, path, before } of moves) {
      const here = createDestination(type, before.settings, new Map());
      const without = createDestination(type, setAt(before, path, undefined).settings, new Map());
      if (here.text() !== without.text()) continue;
      compared += 1;
      const sealed = vault.seal(place, 'value', here);
      expect(vault.open({ ...place, sealed, destination: null }, without).value).toBe('value');
    }
    // `verify_ssl` alone is in 52 types.
    expect(compared).toBeGreaterThan(150);
  });
});
