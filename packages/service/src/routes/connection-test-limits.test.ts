import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase, connect, eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { defaultRateLimits } from '../http/rate-limits.js';

const limits = {
  test: { points: 5, seconds: 60 },
  test_key: { points: 8, seconds: 60 },
  test_type: { points: 10, seconds: 60 },
  test_organization: { points: 14, seconds: 60 },
};
// Neither type has a connection test, so a call within the limits gets 400 `no_test`.
const demo = exampleBody(typeOf('input', 'demo'));
const pushed = exampleBody(typeOf('input', 'monad-http'));

type Call = () => Promise<{ status: number }>;

/** Returns the statuses of `count` sequential calls. */
async function statusesOf(count: number, call: Call): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await call()).status);
  return statuses;
}
const passed = (count: number): number[] => Array<number>(count).fill(400);
const refused = (count: number): number[] => Array<number>(count).fill(429);

describe.each(eachDatabase())('limits of connection tests on $name (S34)', (databases) => {
  let one: TestService;
  let two: TestService;
  let tenants = 0;

  beforeAll(async () => {
    const database = await databases.open();
    one = await createTestService({ database, limits });
    const url = database.pool?.options.connectionString;
    two = url === undefined ? one : await createTestService({ database: connect(url), master: one.master, limits });
  });
  afterAll(async () => {
    if (two !== one) await two.store.close();
    await one.store.close();
    await databases.close();
  });

  const tenant = (): Promise<Tenant> => one.tenant(`tenant ${(tenants += 1)}`);
  let turn = 0;
  /** Requests a connection test, alternating between the replicas and using both routes. */
  const testing = (acme: Tenant, credential: { key: string } | { session: string }, body: object = demo) => {
    const service = (turn += 1) % 2 ? one : two;
    const [test, create] = ['inputs/test-connection', 'inputs?test_connection=true'];
    return service.call('POST', `/v2/${acme.team}/${turn % 3 ? test : create}`, { ...credential, body });
  };
  const withFreshSession =
    (acme: Tenant, body: object = demo) =>
    async () =>
      testing(acme, { session: await one.session(acme) }, body);

  it('fresh sessions share the limit of a connector type', async () => {
    const acme = await tenant();
    expect(await statusesOf(10, withFreshSession(acme))).toEqual(passed(10));
    const answer = await withFreshSession(acme)();
    expect(answer).toMatchObject({
      status: 429,
      body: { error_type: 'rate_limited', code: 429, additional_details: { limit: 'test_type' } },
    });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('ratelimit-policy')).toBe('"test_type";q=10;w=60');
    expect(answer.headers.get('ratelimit')).toMatch(/^"test_type";r=0;t=\d+$/);
    expect(await statusesOf(6, withFreshSession(acme))).toEqual(refused(6));
    expect(await statusesOf(2, () => testing(acme, { key: acme.key }))).toEqual(refused(2));
    // Other types of the organization are not affected.
    expect(await statusesOf(1, withFreshSession(acme, pushed))).toEqual(passed(1));
  });

  it('fresh sessions share the limit of their organization over all types', async () => {
    const acme = await tenant();
    expect(await statusesOf(7, withFreshSession(acme))).toEqual(passed(7));
    expect(await statusesOf(8, withFreshSession(acme, pushed))).toEqual([...passed(7), 429]);
    const answer = await testing(acme, { key: acme.key });
    expect(answer).toMatchObject({ status: 429, body: { additional_details: { limit: 'test_organization' } } });
    expect(answer.headers.get('ratelimit-policy')).toBe('"test_organization";q=14;w=60');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    // Another organization is not affected.
    expect(await statusesOf(1, withFreshSession(await tenant()))).toEqual(passed(1));
  });

  it('an API key has a limit over all of its organizations', async () => {
    const acme = await tenant();
    const path = `/v3/${acme.id}/organizations`;
    const { body: team } = await one.call('POST', path, { key: acme.key, body: { name: 'Another team' } });
    expect(await statusesOf(5, () => testing(acme, { key: acme.key }))).toEqual(passed(5));
    const other = { ...acme, team: team.id };
    expect(await statusesOf(6, () => testing(other, { key: acme.key }))).toEqual([...passed(3), ...refused(3)]);
    const answer = await testing(other, { key: acme.key });
    expect(answer.body.additional_details).toEqual({ limit: 'test_key' });
    expect(answer.headers.get('ratelimit-policy')).toBe('"test_key";q=8;w=60');
    // The sessions that the key creates have limits of their own.
    expect(await statusesOf(1, withFreshSession(other))).toEqual(passed(1));
  });

  it('rejected calls of a session do not count toward the limit of its organization', async () => {
    const acme = await tenant();
    const session = await one.session(acme);
    const statuses = await statusesOf(12, () => testing(acme, { session }));
    // The calls alternate between two replicas, so the order matters too: none passes after the
    // first rejection.
    expect(statuses).toEqual([...passed(5), ...refused(7)]);
    expect(await statusesOf(5, withFreshSession(acme))).toEqual(passed(5));
  });

  it('thirty concurrent sessions cannot exceed the limit of a connector type', async () => {
    const acme = await tenant();
    const sessions = await Promise.all(Array.from({ length: 30 }, () => one.session(acme)));
    const answers = await Promise.all(sessions.map((session) => testing(acme, { session })));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });
});

it('the default limits stop thirty fresh sessions (S34)', async () => {
  const { test, test_type, test_organization } = defaultRateLimits;
  const service = await createTestService({
    database: await anyDatabase().open(),
    limits: { test, test_type, test_organization },
  });
  const acme = await service.tenant('Northwind');
  const path = `/v2/${acme.team}/inputs/test-connection`;
  const statuses = await statusesOf(30, async () =>
    service.call('POST', path, { session: await service.session(acme), body: demo }),
  );
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(10);
  await service.store.close();
});
