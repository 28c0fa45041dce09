import { loadCatalog } from '@connector-frame/catalog';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase, connect, postgresql } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { openStored } from '../../../../test/support/stored-secrets.js';
import { locksOf } from '../store/locks.js';
import type { Tables } from '../store/store.js';
import { createSecretExchanges, type SecretExchanges } from './secret-exchanges.js';

const okta = typeOf('input', 'okta-systemlog');

/**
 * A vendor with rotation as in RFC 9700, section 4.14.2: a used token that is presented again ends the
 * grant.
 */
function rotatingVendor(first: string) {
  let current: string | undefined = first;
  let count = 0;
  return {
    get count() {
      return count;
    },
    async refresh(token: string) {
      await new Promise((resolve) => setImmediate(resolve));
      if (token !== current) {
        current = undefined;
        throw new Error('invalid_grant');
      }
      count += 1;
      current = `refresh-token-number-${count}`;
      return { result: `access-${count}`, replacement: current };
    },
  };
}

const reuse = (earlier: unknown) => (typeof earlier === 'string' ? earlier : undefined);
const settingsOf = (settings: Record<string, unknown>) => ({ ...settings, org_url: 'https://attacker.okta.com' });

describe('exchanges of stored secrets', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let id: string;

  const call = async (method: string, path: string, body: object) => {
    const response = await service.call(method, `/v2/${acme.team}${path}`, { key: acme.key, body });
    if (response.status >= 300) throw new Error(response.text);
    return response.body;
  };
  const create = async (value: object): Promise<string> => {
    const { config, ...rest } = exampleBody(okta);
    return (await call('POST', '/inputs', { ...rest, config: { ...config, secrets: { api_key: value } } })).id;
  };
  const exchanges = (tables: Partial<Tables> = {}): SecretExchanges => {
    const { store, vault } = service;
    return createSecretExchanges({
      tables: { ...store, ...tables },
      locks: store.locks,
      vaultOf: (organizationId) => vault.ofOrganization(store, organizationId),
      catalog: loadCatalog(),
    });
  };
  const secretOf = (of: SecretExchanges, connectorId = id, user = {}) => {
    const secret = of.of({ id: connectorId, organizationId: acme.team }, user).of('api_key');
    if (!secret) throw new Error('no secret');
    return secret;
  };
  const stored = async (connectorId = id) => (await openStored(service, acme.team, connectorId))['api_key'];

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  beforeEach(async () => {
    id = await create({ value: 'refresh-token-number-0' });
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });

  it('takes turns, so that no one presents an old value, and stores each replacement', async () => {
    const vendor = rotatingVendor('refresh-token-number-0');
    const [one, other] = [exchanges(), exchanges()];
    const users = [secretOf(one), secretOf(one), secretOf(other), secretOf(other, id, { key: 'node' })];
    const results = await Promise.all(users.map((secret) => secret.exchange((token) => vendor.refresh(token))));
    expect(results.toSorted()).toEqual(['access-1', 'access-2', 'access-3', 'access-4']);
    expect(await stored()).toBe('refresh-token-number-4');
    expect(await secretOf(one).read()).toBe('refresh-token-number-4');
  });

  it('shares a result among pipelines with the same configuration only', async () => {
    const vendor = rotatingVendor('refresh-token-number-0');
    const all = exchanges();
    const run = (token: string) => vendor.refresh(token);
    const same = await Promise.all([1, 2, 3].map(() => secretOf(all).exchange(run, reuse)));
    expect(same).toEqual(['access-1', 'access-1', 'access-1']);
    expect(await secretOf(all, id, { key: 'node' }).exchange(run, reuse)).toBe('access-2');
    expect(await secretOf(all, id, { key: null }).exchange(run, reuse)).toBe('access-3');
    expect(await secretOf(all, id, { key: null }).exchange(run, reuse)).toBe('access-4');
  });

  it('keeps the stored value if the vendor refuses, and what a person saves meanwhile', async () => {
    const secret = secretOf(exchanges());
    await expect(secret.exchange(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(await stored()).toBe('refresh-token-number-0');
    await secret.exchange(async () => {
      await call('PATCH', `/inputs/${id}`, { config: { secrets: { api_key: { value: 'typed-by-a-person-0000' } } } });
      return { result: 1, replacement: 'refresh-token-number-1' };
    });
    expect(await stored()).toBe('typed-by-a-person-0000');
  });

  it('stores a replacement as soon as the storage is back, before another exchange', async () => {
    const vendor = rotatingVendor('refresh-token-number-0');
    let away = true;
    const { secrets } = service.store;
    const of = exchanges({
      secrets: {
        ...secrets,
        replaceValue: (row) => (away ? Promise.reject(new Error('canary')) : secrets.replaceValue(row)),
      },
    });
    const run = (token: string) => vendor.refresh(token);
    const failure: unknown = await secretOf(of)
      .exchange(run)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'storage_failed', kind: 'retry' });
    expect(String(failure)).not.toContain('canary');
    await expect(secretOf(of).exchange(run)).rejects.toMatchObject({ code: 'storage_failed' });
    expect(await secretOf(of).read()).toBe('refresh-token-number-1');
    away = false;
    expect(await secretOf(of).exchange(run, reuse)).toBe('access-1');
    expect(vendor.count).toBe(1);
    expect(await stored()).toBe('refresh-token-number-1');
  });

  it('replaces a secret that several connectors share, and keeps its destinations', async () => {
    const [row] = await service.store.secrets.ofConnector(id);
    const other = await create({ id: row?.id });
    const vendor = rotatingVendor('refresh-token-number-0');
    const all = exchanges();
    await Promise.all([id, other].map((each) => secretOf(all, each).exchange((token) => vendor.refresh(token))));
    expect([await stored(id), await stored(other)]).toEqual(['refresh-token-number-2', 'refresh-token-number-2']);
    // It opens with the list of destinations that it was shared with.
    const { body } = await service.call('GET', `/v2/${acme.team}/secrets/${row?.id}`, { key: acme.key });
    expect(body.inputs).toHaveLength(2);
  });

  it('does not open a secret for settings that it was not saved for', async () => {
    const moved = secretOf(exchanges(), id, { settingsOf });
    let called = false;
    const run = () => {
      called = true;
      return Promise.resolve({ result: 1 });
    };
    await expect(moved.exchange(run)).rejects.toMatchObject({ code: 'secret_destination_mismatch' });
    expect(called).toBe(false);
    const none = exchanges().of({ id, organizationId: acme.team }, { fields: new Set() });
    expect(none.of('api_key')).toBeUndefined();
  });
});

describe('locks', () => {
  it.skipIf(anyDatabase().name !== 'PostgreSQL')('hold across processes, on one connection each', async () => {
    const databases = postgresql();
    const url = await databases.url();
    const [one, other] = [connect(url), connect(url)];
    const active = new Map<string, number>();
    let most = 0;
    const work = async (name: string) => {
      const now = (active.get(name) ?? 0) + 1;
      active.set(name, now);
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active.set(name, now - 1);
    };
    const names = ['a', 'b', 'a', 'b'];
    await Promise.all(
      [one, other].flatMap((database) => names.map((name) => locksOf(database).run(name, () => work(name)))),
    );
    expect(most).toBe(1);
    expect(one.pool?.totalCount).toBe(1);
    await Promise.all([one.close(), other.close()]);
  });
});
