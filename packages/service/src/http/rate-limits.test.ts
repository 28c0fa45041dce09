import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { connect, eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const limits = {
  address: { points: 5, seconds: 60 },
  key: { points: 12, seconds: 60 },
  organization: { points: 20, seconds: 60 },
  session: { points: 9, seconds: 60 },
  test: { points: 5, seconds: 60 },
};

const statusesOf = async (count: number, call: () => Promise<{ status: number }>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await call()).status);
  return statuses;
};
const times = (count: number, status: number): number[] => Array<number>(count).fill(status);

describe.each(eachDatabase())('rate limits on $name (S27)', (databases) => {
  let one: TestService;
  let two: TestService;
  let tenants = 0;
  const replicas = databases.name === 'PostgreSQL';

  beforeAll(async () => {
    const database = await databases.open();
    const settings = { trustedProxies: ['10.0.0.0/8', '::1'] };
    one = await createTestService({ database, limits, settings });
    two = one;
    if (replicas) {
      const second = connect(database.pool?.options.connectionString ?? '');
      two = await createTestService({ database: second, master: one.master, clock: one.clock, limits, settings });
    }
  });
  afterAll(async () => {
    await one.store.close();
    if (replicas) await two.store.close();
    await databases.close();
  });

  const tenant = (): Promise<Tenant> => one.tenant(`tenant ${(tenants += 1)}`);

  it('apply to a key across replicas, and set Retry-After', async () => {
    const { key } = await tenant();
    let turn = 0;
    const call = () => ((turn += 1) % 2 ? one : two).call('GET', '/v1/inputs', { key });
    const first = await call();
    expect(first.headers.get('ratelimit-policy')).toBe('"key";q=12;w=60');
    expect(first.headers.get('ratelimit')).toBe('"key";r=11;t=60');
    expect(await statusesOf(11, call)).toEqual(times(11, 200));
    const refused = await call();
    expect(refused).toMatchObject({ status: 429, body: { error_type: 'rate_limited', code: 429 } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(refused.headers.get('ratelimit')).toMatch(/^"key";r=0;t=\d+$/);
    // Each replica blocks a subject in memory after it has seen it exceed the limit, so call both
    // replicas more than once.
    expect(await statusesOf(6, call)).toEqual(times(6, 429));
  });

  it('apply to each session separately', async () => {
    const acme = await tenant();
    const session = await one.session(acme);
    const other = await one.session(acme);
    expect(await statusesOf(10, () => one.call('GET', '/v1/inputs', { session }))).toEqual([...times(9, 200), 429]);
    expect((await two.call('GET', '/v1/inputs', { session })).status).toBe(429);
    expect((await one.call('GET', '/v1/inputs', { session: other })).status).toBe(200);
  });

  it('apply to an organization across its keys', async () => {
    const { id, key } = await tenant();
    const more = await one.call('POST', `/v3/${id}/api-keys`, { key, body: { name: 'more', permissions: ['read'] } });
    await statusesOf(10, () => one.call('GET', '/v1/inputs', { key }));
    const last = await statusesOf(10, () => two.call('GET', '/v1/inputs', { key: more.body.key }));
    expect(last).toEqual([...times(9, 200), 429]);
  });

  it('allow a session five connection tests per minute across both routes', async () => {
    const acme = await tenant();
    const session = await one.session(acme);
    const body = exampleBody(typeOf('input', 'demo'));
    const test = (service: TestService) =>
      service.call('POST', `/v2/${acme.team}/inputs/test-connection`, { session, body });
    const create = `/v2/${acme.team}/inputs?test_connection=true`;
    expect(await statusesOf(3, () => test(one))).toEqual(times(3, 400));
    expect(await statusesOf(2, () => one.call('POST', create, { session, body }))).toEqual(times(2, 400));
    const refused = await test(two);
    expect(refused).toMatchObject({ status: 429, body: { additional_details: { limit: 'test' } } });
    expect(refused.headers.get('ratelimit-policy')).toBe('"test";q=5;w=60');
  });

  it('apply to the address of unauthenticated clients, not to a spoofed header', async () => {
    const strangers = (peer: string, forwarded?: string) =>
      one.call('GET', '/v1/inputs', { key: 'wrong', peer, headers: forwarded ? { 'x-forwarded-for': forwarded } : {} });
    let lie = 0;
    const lying = () => strangers('198.51.100.7', `203.0.113.${(lie += 1)}`);
    expect(await statusesOf(7, lying)).toEqual([...times(5, 401), 429, 429]);
    // A valid key from the same address is not locked out.
    const { key } = await tenant();
    expect((await one.call('GET', '/v1/inputs', { key, peer: '198.51.100.7' })).status).toBe(200);

    const behind = (client: string) => () => strangers('10.0.0.1', `203.0.113.99, ${client}, 10.2.3.4`);
    expect(await statusesOf(6, behind('192.0.2.50'))).toEqual([...times(5, 401), 429]);
    expect((await behind('192.0.2.51')()).status).toBe(401);
    const noCredential = await one.call('GET', '/v1/inputs', { peer: '192.0.2.50' });
    expect(noCredential.status).toBe(429);
  });

  it('apply to an IPv6 /64 network as a whole', async () => {
    let host = 0;
    const call = () =>
      one.call('GET', '/v1/inputs', { key: 'wrong', peer: `2001:db8:1:2::${(host += 1).toString(16)}` });
    expect(await statusesOf(6, call)).toEqual([...times(5, 401), 429]);
    expect((await one.call('GET', '/v1/inputs', { key: 'wrong', peer: '2001:db8:1:3::1' })).status).toBe(401);
  });
});
