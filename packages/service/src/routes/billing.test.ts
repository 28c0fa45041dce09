import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestClock, type TestService } from '../../../../test/support/service.js';
import { fillPath, operationsOf } from '../../../../test/support/operations.js';
import { signedInUser, storedConnection } from '../../../../test/support/users.js';
import { currentCost } from '../billing/current-cost.js';
import { costInCents } from '../billing/statement.js';
import { storageCosts } from '../billing/storage-cost.js';
import { billingPermissions } from '../permissions.js';
import { createUsageWriter } from '../store/usage-writer.js';
import { HOUR, DAY, minuteOf } from '../usage/periods.js';
import { noAmounts } from '../usage/usage-segment.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

function clockAt(time: number): TestClock & { set(time: number): void } {
  let current = time;
  return {
    now: () => current,
    elapsed: () => current,
    advance: (ms) => void (current += ms),
    set: (to) => void (current = to),
  };
}

describe.each(eachDatabase())('billing on $name', (databases) => {
  const clock = clockAt(Date.UTC(2030, 0, 10, 12, 30));
  let service: TestService;
  let acme: Tenant;
  let other: Tenant;
  let sequence = 0;

  const call = (method: string, path: string, body?: unknown, key = acme.key) =>
    service.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  async function must(method: string, path: string, body?: unknown) {
    const answer = await call(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  }
  const get = (path: string) => must('GET', path);
  const issue = async (method: string, path: string, body: unknown) => {
    const answer = await call(method, path, body);
    return [answer.status, answer.body.additional_details?.issues?.[0]?.path];
  };
  const product = (slug: string, rest: object = {}) =>
    must('POST', '/v2/billing/products', { slug, name: slug, ...rest });
  const account = (name: string) =>
    must('POST', '/v2/billing/accounts', { name, billing_email: 'billing@acme.example' });
  const team = async (name: string): Promise<string> =>
    (await must('POST', `/v3/${acme.id}/organizations`, { name })).id;
  /** Stores what a pipeline of an organization has received and delivered. */
  const use = (organizationId: string, at: number, [ingressBytes, egressBytes]: [number, number]) =>
    createUsageWriter(service.database).add({
      holder: 'engine',
      sequence: (sequence += 1),
      at: new Date(clock.now()),
      rows: (['input', 'output'] as const).map((componentType) => ({
        node: {
          organizationId,
          parentId: acme.id,
          pipelineId: `pipeline of ${organizationId}`,
          nodeId: componentType,
          componentType,
          componentId: componentType,
          type: componentType === 'input' ? 'monad-http' : 's3',
          inputId: 'input',
        },
        minute: minuteOf(at),
        amounts: componentType === 'input' ? { ...noAmounts(), ingressBytes } : { ...noAmounts(), egressBytes },
      })),
    });

  /** Gives a role of an account to a person. Returns its path. */
  const give = async (accountId: string, permissions: readonly string[], email: string): Promise<string> => {
    const roles = `/v2/billing/accounts/${accountId}/roles`;
    const { id } = await must('POST', roles, { name: 'Role', permissions });
    await must('POST', `${roles}/${id}/users`, { user_email: email.toUpperCase() });
    return `${roles}/${id}`;
  };
  /** Signs a person in who is a member of an organization, or of none. */
  const person = async (organizationId?: string, role = 'contributor') => {
    const made = await signedInUser(service, organizationId ?? other.id, role);
    const membership = { organizationId: organizationId ?? other.id, userId: made.id };
    if (organizationId === undefined) await service.store.memberships.remove(membership);
    const { token: user, email } = made;
    const send = (method: string, at: string, body?: object) =>
      service.call(method, at, { user, ...(body && { body }) });
    const status = async (method: string, at: string, body?: object) => (await send(method, at, body)).status;
    return { id: made.id, email, send, status };
  };

  beforeAll(async () => {
    service = await createTestService({
      database: await databases.open(),
      clock,
      settings: { checkoutUrl: 'https://host.example/pay?account={billing_account_id}&product={product_id}' },
    });
    acme = await service.tenant('Northwind');
    other = await service.tenant('Fabrikam');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });

  it('products are the owner’s: listed, changed until an account has one, then only deactivated', async () => {
    const made = await product('basic', {
      description: 'To begin with',
      features: ['Two pipelines'],
      contact_email: 'sales@acme.example',
      product_type: 'default',
      recurring_cost_cents: 1_000,
    });
    expect(made).toMatchObject({
      slug: 'basic',
      is_default: false,
      is_active: true,
      recurring_frequency: 'month',
      usage_unit_cost_cents: 0,
    });
    expect(made).not.toHaveProperty('usage_unit');
    const path = `/v2/billing/products/${made.id}`;
    expect(await must('PATCH', path, { recurring_cost_cents: 900, usage_unit: 'egress_gb' })).toMatchObject({
      recurring_cost_cents: 900,
      usage_unit: 'egress_gb',
      name: 'basic',
    });
    expect((await call('POST', '/v2/billing/products', { slug: 'basic', name: 'Again' })).status).toBe(409);
    const { id } = await account('Has it');
    await must('POST', `/v2/billing/accounts/${id}/subscription`, { product_id: made.id });
    expect((await call('PATCH', path, { recurring_cost_cents: 1 })).status).toBe(409);
    expect((await call('DELETE', path)).status).toBe(409);
    expect(await must('PATCH', path, { is_active: false, name: 'Old' })).toMatchObject({ is_active: false });
    expect((await get('/v2/billing/products')).billing_products).toEqual([]);
    expect((await get('/v2/billing/products?show_inactive=true')).billing_products).toMatchObject([{ name: 'Old' }]);
    expect(
      await issue('POST', `/v2/billing/accounts/${(await account('New')).id}/subscription`, { product_id: made.id }),
    ).toEqual([400, '/product_id']);
    const unused = await product('unused');
    expect((await call('DELETE', `/v2/billing/products/${unused.id}`)).status).toBe(204);
    // One default at a time.
    const [one, two] = [await product('one', { is_default: true }), await product('two', { is_default: true })];
    const listed: { id: string; is_default: boolean }[] = (await get('/v2/billing/products')).billing_products;
    expect(new Map(listed.map(({ id: each, is_default: isDefault }) => [each, isDefault]))).toEqual(
      new Map([
        [one.id, false],
        [two.id, true],
      ]),
    );
    expect(await account('With the default')).toMatchObject({ product_id: two.id, product: { slug: 'two' } });
    await must('PATCH', `/v2/billing/products/${two.id}`, { is_default: false });
    for (const [field, body] of [
      ['/slug', { name: 'x' }],
      ['/slug', { slug: 'Not a slug', name: 'x' }],
      ['/recurring_cost_cents', { slug: 'x', name: 'x', recurring_cost_cents: 1.5 }],
      ['/recurring_frequency', { slug: 'x', name: 'x', recurring_frequency: 'week' }],
      ['/usage_unit', { slug: 'x', name: 'x', usage_unit: 'gb' }],
      ['/usage_unit', { slug: 'x', name: 'x', usage_unit_cost_cents: 5 }],
      ['/is_active', { slug: 'x', name: 'x', is_active: false, is_default: true }],
      ['/contact_email', { slug: 'x', name: 'x', contact_email: 'nobody' }],
    ] as const)
      expect([field, ...(await issue('POST', '/v2/billing/products', body))]).toEqual([field, 400, field]);
  });

  it('accounts are created, changed and deleted, and keep what is absent', async () => {
    const made = await account('Acme');
    expect(made).toEqual({
      id: made.id,
      name: 'Acme',
      description: '',
      billing_email: 'billing@acme.example',
      status: 'inactive',
      has_payment_method: false,
      created_at: '2030-01-10T12:30:00.000Z',
      updated_at: '2030-01-10T12:30:00.000Z',
    });
    const path = `/v2/billing/accounts/${made.id}`;
    expect(await must('PATCH', path, { description: 'Of Acme' })).toMatchObject({
      name: 'Acme',
      description: 'Of Acme',
    });
    const { billing_accounts: all, pagination } = await get('/v2/billing/accounts?limit=100');
    expect(pagination.total).toBe(all.length);
    expect(all).toContainEqual(await get(path));
    const member = await team('A member');
    await must('PUT', `${path}/organizations/${member}`);
    await must('PUT', `${path}/organizations/${member}`);
    expect((await get(`${path}/organizations`)).organizations).toEqual([{ id: member, name: 'A member' }]);
    expect(await get(`/v3/${acme.id}/organizations/${member}`)).toMatchObject({ billing_account_id: made.id });
    expect((await get('/v1/organizations?name_search=member')).organizations[0].billing_account_id).toBe(made.id);
    const refused = await call('DELETE', path);
    expect([refused.status, refused.body.additional_details]).toEqual([
      409,
      { organizations: [{ id: member, name: 'A member' }], total: 1 },
    ]);
    await must('DELETE', `${path}/organizations/${member}`);
    expect((await call('DELETE', `${path}/organizations/${member}`)).status).toBe(404);
    await must('POST', '/v2/quotas', {
      billing_account_id: made.id,
      name: 'Q',
      limit_type: 'egress_bytes',
      limit_amount: 1,
      timeframe: 'day',
      action: 'NONE',
    });
    expect(await must('DELETE', path)).toMatchObject({ status: 'deleted', deleted_at: expect.any(String) });
    expect(await get(path)).toMatchObject({ status: 'deleted' });
    expect((await get(`/v2/quotas?billing_account_id=${made.id}`)).quotas).toEqual([]);
    expect((await get('/v2/billing/accounts')).pagination.total).toBe(pagination.total - 1);
    for (const [method, rest, body] of [
      ['PATCH', '', { name: 'x' }],
      ['DELETE', '', undefined],
      ['PUT', `/organizations/${member}`, undefined],
      ['GET', '/roles', undefined],
      ['POST', '/roles', { name: 'x', permissions: [] }],
    ] as const)
      expect([method, rest, (await call(method, path + rest, body)).status]).toEqual([method, rest, 404]);
    for (const [field, body] of [
      ['/name', { billing_email: 'a@a.example' }],
      ['/billing_email', { name: 'x' }],
      ['/billing_email', { name: 'x', billing_email: 'nobody' }],
      ['/unknown', { name: 'x', billing_email: 'a@a.example', unknown: 1 }],
    ] as const)
      expect([field, ...(await issue('POST', '/v2/billing/accounts', body))]).toEqual([field, 400, field]);
    const open = await account('Open');
    expect(await issue('PATCH', `/v2/billing/accounts/${open.id}`, { suspend_on: 'tomorrow' })).toEqual([
      400,
      '/suspend_on',
    ]);
  });

  it('a subscription begins at once, changes and ends with the cycle, and names the page to pay', async () => {
    const [team1, team2] = [await product('team-1'), await product('team-2', { recurring_frequency: 'year' })];
    const { id } = await account('Subscribed');
    const path = `/v2/billing/accounts/${id}`;
    const subscribe = (product_id: string) => must('POST', `${path}/subscription`, { product_id });
    expect((await call('GET', `${path}/subscription`)).status).toBe(404);
    expect((await call('DELETE', `${path}/subscription`)).status).toBe(404);
    expect(await subscribe(team1.id)).toEqual({
      checkout_url: `https://host.example/pay?account=${id}&product=${team1.id}`,
    });
    expect(await get(path)).toMatchObject({
      status: 'active',
      product_id: team1.id,
      current_billing_cycle_start: '2030-01-10T12:00:00.000Z',
      current_billing_cycle_end: '2030-02-01T00:00:00.000Z',
    });
    expect(await get(`${path}/subscription`)).toEqual(team1);
    await subscribe(team2.id);
    expect(await get(path)).toMatchObject({
      product_id: team1.id,
      next_product_id: team2.id,
      next_product: { slug: 'team-2' },
      product_change_after: '2030-02-01T00:00:00.000Z',
    });
    // The present one again: the change is called off.
    await subscribe(team1.id);
    expect(await get(path)).not.toHaveProperty('next_product_id');
    await subscribe(team2.id);
    clock.set(Date.UTC(2030, 1, 1));
    expect(await get(path)).toMatchObject({
      product_id: team2.id,
      current_billing_cycle_start: '2030-02-01T00:00:00.000Z',
      current_billing_cycle_end: '2031-01-01T00:00:00.000Z',
    });
    await must('DELETE', `${path}/subscription`);
    expect(await get(path)).toMatchObject({ status: 'canceling', product_id: team2.id });
    await must('DELETE', `${path}/subscription`);
    clock.set(Date.UTC(2031, 0, 1));
    expect(await get(path)).toMatchObject({ status: 'inactive' });
    expect(await get(path)).not.toHaveProperty('product');
    // With a default product, an account falls back to it.
    await must('PATCH', `/v2/billing/products/${team1.id}`, { is_default: true });
    await subscribe(team2.id);
    await must('DELETE', `${path}/subscription`);
    expect(await get(path)).toMatchObject({ status: 'active', next_product_id: team1.id });
    clock.set(Date.UTC(2032, 0, 1));
    expect(await get(path)).toMatchObject({ status: 'active', product_id: team1.id });
    await must('PATCH', `/v2/billing/products/${team1.id}`, { is_default: false });
    expect(await issue('POST', `${path}/subscription`, { product_id: UNKNOWN })).toEqual([400, '/product_id']);
    expect(await issue('POST', `${path}/subscription`, {})).toEqual([400, '/product_id']);
  });

  it('a statement is the usage of its members times the price, to the cent', async () => {
    clock.set(Date.UTC(2032, 2, 5, 10, 20));
    const { id: product_id } = await product('metered', {
      recurring_cost_cents: 4_900,
      usage_unit: 'egress_gb',
      usage_unit_cost_cents: 25,
    });
    const { id } = await account('Metered');
    const path = `/v2/billing/accounts/${id}`;
    const statement = (at?: number) => get(`${path}/statement${at ? `?at=${new Date(at).toISOString()}` : ''}`);
    expect((await call('GET', `${path}/statement`)).status).toBe(404);
    const [one, two, gone] = [await team('One'), await team('Two'), await team('Gone')];
    await must('POST', `${path}/subscription`, { product_id });
    for (const each of [one, gone]) await must('PUT', `${path}/organizations/${each}`);
    // Before the subscription, and in the hour in which it began.
    await use(one, Date.UTC(2032, 2, 5, 9, 59), [1, 1e12]);
    await use(one, Date.UTC(2032, 2, 5, 10, 1), [5, 3_000_000_001]);
    await use(gone, Date.UTC(2032, 2, 5, 11), [7, 2_000_000_000]);
    await must('DELETE', `/v3/${acme.id}/organizations/${gone}`);
    // A team that comes later, and leaves.
    await use(two, Date.UTC(2032, 2, 5, 12), [1, 1e12]);
    clock.set(Date.UTC(2032, 2, 6, 0, 10));
    await must('PUT', `${path}/organizations/${two}`);
    await use(two, clock.now(), [1_000, 1_020_000_000]);
    clock.advance(DAY);
    const rival = await account('Another');
    await must('PUT', `/v2/billing/accounts/${rival.id}/organizations/${two}`);
    await use(two, clock.now(), [1, 1e12]);
    clock.set(Date.UTC(2032, 3, 1, 0, 30));
    await use(one, Date.UTC(2032, 3, 1), [1, 1e12]);

    const march = await statement(Date.UTC(2032, 2, 20));
    const egress = 3_000_000_001 + 2_000_000_000 + 1_020_000_000;
    expect(march).toMatchObject({
      billing_account_id: id,
      start_at: '2032-03-05T10:00:00.000Z',
      end_at: '2032-04-01T00:00:00.000Z',
      is_final: true,
      currency: 'USD',
      lines: [
        { kind: 'recurring', unit: 'month', quantity: 1, amount_cents: 4_900 },
        // 150.5 cents and a little.
        { kind: 'usage', unit: 'egress_gb', quantity: egress, unit_size: 1e9, unit_cost_cents: 25, amount_cents: 151 },
      ],
      total_cents: 5_051,
    });
    const usage: { organization_id: string; egress: { bytes: number } }[] = march.usage;
    expect(new Map(usage.map((each) => [each.organization_id, each.egress.bytes]))).toEqual(
      new Map([
        [one, 3_000_000_001],
        [two, 1_020_000_000],
        [gone, 2_000_000_000],
      ]),
    );
    expect(usage.find(({ organization_id: each }) => each === gone)).not.toHaveProperty('organization_name');
    // The export shows the same.
    const window = `start=${march.start_at}&end=${march.end_at}&resolution=total&group_by=organization`;
    const exported = await get(`/v3/${one}/usage?${window}`);
    expect(exported.usage[0].egress.bytes).toBe(3_000_000_001);
    expect(await statement()).toMatchObject({ is_final: false, lines: [{}, { quantity: 1e12, amount_cents: 25_000 }] });
    // The cost that a budget is compared with is the total of the statement: 25,000 + 4,900 cents.
    expect(await currentCost(service.store, one, clock.now())).toEqual({
      of: 'invoice',
      billingAccountId: id,
      period: { start: Date.UTC(2032, 3, 1), end: Date.UTC(2032, 4, 1) },
      nanodollars: 299_000_000_000n,
    });
    // A deleted account can still be read.
    await must('DELETE', `${path}/organizations/${one}`);
    await must('DELETE', path);
    expect(await statement(Date.UTC(2032, 2, 20))).toEqual(march);
    expect((await call('GET', `${path}/statement?at=then`)).status).toBe(400);
  });

  it('storage costs what the organization has set', async () => {
    const id = await team('Stores');
    await must('PUT', `/v2/${id}/storage-type-cost`, { costs: { s3: { cost_per_gb: 0.023 } } });
    await use(id, clock.now(), [1, 5_000_000_001]);
    const period = { start: clock.now() - HOUR, end: clock.now() + HOUR };
    expect(await storageCosts(service.store, id, period)).toMatchObject([{ type: 's3', postFilter: 115_000_000n }]);
    expect(await storageCosts(service.store, id, { start: 0, end: HOUR })).toEqual([]);
    // This organization is in no account, so its cost is the storage of the month.
    const cost = { of: 'storage', period: { start: Date.UTC(2032, 3, 1), end: Date.UTC(2032, 4, 1) } };
    expect(await currentCost(service.store, id, clock.now())).toEqual({ ...cost, nanodollars: 115_000_000n });
    expect((await currentCost(service.store, id, Date.UTC(2032, 4, 1))).nanodollars).toBe(0n);
  });

  it('a user manages what the one organization has in which they may', async () => {
    const { id } = await account('Of users');
    const path = `/v2/billing/accounts/${id}`;
    const as = async (organization: string, role: string) => {
      const { token: user, ...rest } = await signedInUser(service, organization, role);
      return {
        ...rest,
        call: (method: string, body?: object) => service.call(method, path, { user, ...(body && { body }) }),
      };
    };
    const ana = await as(acme.id, 'admin');
    expect((await ana.call('GET')).body).toMatchObject({ id, name: 'Of users' });
    expect((await ana.call('PATCH', { name: 'Renamed' })).body).toMatchObject({ id, name: 'Renamed' });
    const bo = await as(acme.id, 'reader');
    expect([(await bo.call('GET')).status, (await bo.call('PATCH', { name: 'No' })).status]).toEqual([200, 403]);
    // Neither a team nor another parent organization learns that it exists.
    for (const stranger of [await as(acme.team, 'admin'), await as(other.id, 'admin')])
      expect((await stranger.call('GET')).status).toBe(404);
    const [now, user] = [new Date(clock.now()), await service.store.users.get(ana.id)];
    if (!user) throw new Error('the user is gone');
    const second = { organizationId: other.id, userId: ana.id, roleId: 'admin', createdAt: now, updatedAt: now, user };
    await service.store.memberships.insert(second);
    const refused = await ana.call('GET');
    expect(refused.status).toBe(403);
    expect(refused.body.error).toContain('more than one organization');
  });

  describe('a role of an account', () => {
    let mine: string;
    let path: string;
    let theirs: string;
    let foreign: string;
    beforeAll(async () => {
      mine = (await account('Mine')).id;
      path = `/v2/billing/accounts/${mine}`;
      theirs = (await account('Theirs')).id;
      const body = { name: 'Foreign', billing_email: 'a@other.example' };
      foreign = (await call('POST', '/v2/billing/accounts', body, other.key)).body.id;
    });

    it('lets a user without any other role act on this account, from the next request on', async () => {
      const bo = await person();
      expect([await bo.status('GET', path), await bo.status('GET', '/v2/billing/accounts')]).toEqual([403, 403]);
      const role = await give(mine, ['billing_account:read'], bo.email);
      expect((await bo.send('GET', path)).body).toMatchObject({ id: mine, name: 'Mine' });
      const { billing_accounts, pagination } = (await bo.send('GET', '/v2/billing/accounts')).body;
      expect([billing_accounts.map(({ id }: { id: string }) => id), pagination.total]).toEqual([[mine], 1]);
      expect(await bo.status('GET', '/v2/billing/permissions')).toBe(200);
      // Not another account of the same owner, not an account of another owner, and not the products.
      for (const id of [theirs, foreign]) expect(await bo.status('GET', `/v2/billing/accounts/${id}`)).toBe(404);
      expect(await bo.status('GET', '/v2/billing/products')).toBe(403);
      expect(await bo.status('GET', `/v3/${acme.id}`)).toBe(404);
      expect(await bo.status('PATCH', path, { name: 'No' })).toBe(403);
      await must('PATCH', role, { permissions: ['billing_account:read', 'billing_account:write'] });
      expect((await bo.send('PATCH', path, { description: 'By Bo' })).body).toMatchObject({ description: 'By Bo' });
      await must('PATCH', role, { permissions: [] });
      expect([await bo.status('GET', path), await bo.status('GET', '/v2/billing/accounts')]).toEqual([403, 403]);
      await must('PATCH', role, { permissions: ['billing_account:read'] });
      expect(await bo.status('GET', path)).toBe(200);
      await must('DELETE', role);
      expect(await bo.status('GET', path)).toBe(403);
    });

    it('adds to the roles of a user in organizations', async () => {
      const cy = await person(other.id);
      await give(mine, ['billing_account:read', 'billing_account:write'], cy.email);
      expect((await cy.send('PATCH', path, { description: 'By Cy' })).body).toMatchObject({ description: 'By Cy' });
      // In their own organization they read, as a contributor.
      expect((await cy.send('GET', `/v2/billing/accounts/${foreign}`)).body).toMatchObject({ id: foreign });
      expect(await cy.status('PATCH', `/v2/billing/accounts/${foreign}`, { name: 'No' })).toBe(404);
      expect(await cy.status('GET', `/v2/billing/accounts/${theirs}`)).toBe(404);
      const { billing_accounts, pagination } = (await cy.send('GET', '/v2/billing/accounts')).body;
      expect(new Set(billing_accounts.map(({ id }: { id: string }) => id))).toEqual(new Set([mine, foreign]));
      expect(pagination.total).toBe(2);
    });

    it('counts only for the confirmed address of a user of no connection', async () => {
      const [unconfirmed, ofConnection] = [await person(), await person()];
      const user = await service.store.users.get(unconfirmed.id);
      if (!user) throw new Error('the user is gone');
      await service.store.users.change({ ...user, emailVerifiedAt: null });
      const connectionId = await storedConnection(service, other.id);
      await service.database.script((run) =>
        run(`update users set connection_id = '${connectionId}' where id = '${ofConnection.id}'`),
      );
      for (const each of [unconfirmed, ofConnection]) {
        await give(mine, ['billing_account:read'], each.email);
        expect(await each.status('GET', path)).toBe(403);
      }
    });

    it('gives nobody what they lack, and no organization of the owner', async () => {
      const di = await person();
      const role = await give(mine, ['billing_account:role:write', 'billing_account:write'], di.email);
      const more = await must('POST', `${path}/roles`, { name: 'More', permissions: [...billingPermissions] });
      const refused = await di.send('POST', `${path}/roles/${more.id}/users`, { user_email: di.email });
      expect([refused.status, refused.body.additional_details.missing_permissions]).toEqual([
        403,
        billingPermissions.filter((slug) => !/^billing_account:(role:)?write$/.test(slug)),
      ]);
      expect(await di.status('PATCH', role, { permissions: [...billingPermissions] })).toBe(403);
      expect(await di.status('POST', `${role}/users`, { user_email: 'ed@acme.example' })).toBe(201);
      const team1 = await team('Of nobody');
      expect(await di.status('PUT', `${path}/organizations/${team1}`)).toBe(403);
      await must('PUT', `${path}/organizations/${team1}`);
      expect(await di.status('DELETE', `${path}/organizations/${team1}`)).toBe(403);
      await must('DELETE', `${path}/organizations/${team1}`);
    });

    it('covers the quotas of the account', async () => {
      const ed = await person();
      await give(mine, ['quota:read', 'quota:write', 'quota:delete'], ed.email);
      const limit = { name: 'Q', limit_type: 'egress_bytes', limit_amount: 5, timeframe: 'day', action: 'NONE' };
      const own = await must('POST', '/v2/quotas', { billing_account_id: mine, ...limit });
      const others = await must('POST', '/v2/quotas', { billing_account_id: theirs, ...limit });
      const listed = (await ed.send('GET', `/v2/quotas?billing_account_id=${mine}`)).body.quotas;
      expect(listed.map(({ id }: { id: string }) => id)).toEqual([own.id]);
      expect(await ed.status('GET', `/v2/quotas?billing_account_id=${theirs}`)).toBe(403);
      expect((await ed.send('GET', '/v2/quotas')).body.error).toContain('Send billing_account_id');
      const ofTeam = await must('POST', '/v2/quotas', { organization_id: acme.team, ...limit });
      for (const query of ['', `?billing_account_id=${mine}`])
        expect(await ed.status('DELETE', `/v2/quotas/${ofTeam.id}${query}`)).toBe(404);
      expect((await ed.send('PUT', `/v2/quotas/${own.id}`, { ...limit, name: 'By Ed' })).body.name).toBe('By Ed');
      for (const method of ['GET', 'DELETE']) expect(await ed.status(method, `/v2/quotas/${others.id}`)).toBe(404);
      expect(await ed.status('POST', '/v2/quotas', { billing_account_id: mine, ...limit })).toBe(403);
      expect([await ed.status('DELETE', `/v2/quotas/${own.id}`), await ed.status('GET', path)]).toEqual([204, 403]);
    });

    it('allows exactly the calls that need its permissions, and nothing elsewhere', async () => {
      const { id: quotaId } = await must('POST', '/v2/quotas', {
        name: 'Q',
        limit_type: 'egress_bytes',
        limit_amount: 5,
        timeframe: 'day',
        action: 'NONE',
        billing_account_id: mine,
      });
      const fo = await person();
      const role = await give(mine, [], fo.email);
      const [, roleId = ''] = role.split('/roles/');
      const ids = {
        accounts: mine,
        billing_roles: roleId,
        billing_users: UNKNOWN,
        quotas: quotaId,
        organizations: acme.team,
      };
      const operations = (await operationsOf(service.app)).filter(
        (each) =>
          /^[/]v2[/](billing|quotas)/.test(each.path) && !/products/.test(each.path) && each.id !== 'listQuotas',
      );
      expect(operations.length).toBeGreaterThan(20);
      // A role grants nothing beyond its account: these are decisions of the owner.
      const ofOwner = new Set([
        'createBillingAccount',
        'addBillingAccountOrganization',
        'removeBillingAccountOrganization',
        'createQuota',
      ]);
      for (const slug of billingPermissions) {
        await must('PATCH', role, { permissions: [slug] });
        for (const operation of operations) {
          if (operation.method === 'DELETE' && operation.permissions.includes(slug) && !ofOwner.has(operation.id))
            continue;
          const at = fillPath(operation, { org: acme.team, parent_org: acme.id }, ids);
          const status = await fo.status(operation.method, at, operation.example && { unknown_field: true });
          const isAllowed = operation.permissions.every((each) => each === slug) && !ofOwner.has(operation.id);
          expect([slug, operation.id, status === 403]).toEqual([slug, operation.id, !isAllowed]);
        }
      }
      for (const [method, at] of [
        ['GET', `/v1/${acme.id}/users`],
        ['GET', `/v3/${acme.id}/usage`],
        ['GET', `/v2/${acme.id}/quotas`],
        ['GET', `/v1/${acme.team}/inputs`],
      ] as const)
        expect([at, await fo.status(method, at)]).toEqual([at, 404]);
    });
  });

  it('roles name permissions by slug and users by e-mail', async () => {
    const { id } = await account('With roles');
    const path = `/v2/billing/accounts/${id}/roles`;
    expect((await get('/v2/billing/permissions')).map(({ slug }: { slug: string }) => slug)).toEqual(
      billingPermissions,
    );
    const role = await must('POST', path, { name: 'Reads', permissions: ['billing_account:read', 'quota:read'] });
    expect(role).toMatchObject({ billing_account_id: id, users: [], description: '' });
    const one = `${path}/${role.id}`;
    const added = await call('POST', `${one}/users`, { user_email: 'Ana@Acme.example' });
    expect([added.status, added.body]).toEqual([201, 'The user has the role.']);
    await must('POST', `${one}/users`, { user_email: 'ana@acme.example' });
    const { users } = await get(one);
    expect(users).toEqual([{ id: expect.any(String), email: 'ana@acme.example' }]);
    expect(await must('PATCH', one, { description: 'Only reads' })).toMatchObject({
      permissions: ['billing_account:read', 'quota:read'],
      users,
    });
    expect(await must('PATCH', one, { permissions: [] })).toMatchObject({ name: 'Reads', permissions: [] });
    expect(await get(path)).toEqual([await get(one)]);
    expect((await call('DELETE', `${one}/users/${UNKNOWN}`)).status).toBe(404);
    expect((await call('DELETE', `${one}/users/${users[0].id}`)).status).toBe(204);
    expect(await get(one)).toMatchObject({ users: [] });
    await must('POST', `${one}/users`, { user_email: 'ana@acme.example' });
    const removed = await call('DELETE', one);
    expect([removed.status, removed.body]).toEqual([202, 'The role was deleted.']);
    expect((await call('GET', one)).status).toBe(404);
    expect(await issue('POST', path, { permissions: [] })).toEqual([400, '/name']);
    expect(await issue('POST', path, { name: 'x' })).toEqual([400, '/permissions']);
    expect(await issue('POST', path, { name: 'x', permissions: ['pipeline:read'] })).toEqual([400, '/permissions/0']);
    const kept = await must('POST', path, { name: 'Kept', permissions: [] });
    expect(await issue('POST', `${path}/${kept.id}/users`, { user_email: 'nobody' })).toEqual([400, '/user_email']);
    // Nobody gives what they lack.
    const granted = ['billing_account:role:write'];
    const { key } = await must('POST', `/v3/${acme.id}/api-keys`, { name: 'few', permissions: granted });
    const lacking = await call('POST', path, { name: 'x', permissions: ['billing_account:delete'] }, key);
    expect([lacking.status, lacking.body.additional_details.missing_permissions]).toEqual([
      403,
      ['billing_account:delete'],
    ]);
  });

  it('quotas are set by the parent, and a team sees its own ones', async () => {
    clock.set(Date.UTC(2033, 0, 31, 23, 30));
    const [limited, sister] = [await team('Limited'), await team('Sister')];
    const { key } = await must('POST', `/v3/${limited}/api-keys`, { name: 'all', permissions: ['read', 'write'] });
    const fields = { name: 'Q', limit_type: 'ingress_bytes', limit_amount: 100, timeframe: 'month', action: 'NONE' };
    const quota = await must('POST', '/v2/quotas', { organization_id: limited, ...fields });
    await must('POST', '/v2/quotas', { organization_id: sister, ...fields });
    await use(limited, Date.UTC(2033, 0, 2), [60, 1]);
    await use(limited, Date.UTC(2033, 0, 31, 23), [7, 1]);
    await use(limited, Date.UTC(2032, 11, 31, 23), [1_000, 1]);
    expect(await get(`/v2/quotas/${quota.id}`)).toEqual({
      id: quota.id,
      organization_id: limited,
      ...fields,
      limit_unit: 'bytes',
      current_usage: 67,
      current_usage_updated_at: '2033-01-31T23:30:00.000Z',
      start_at: '2033-01-01T00:00:00.000Z',
      end_at: '2033-02-01T00:00:00.000Z',
      created_at: '2033-01-31T23:30:00.000Z',
      updated_at: '2033-01-31T23:30:00.000Z',
    });
    const changed = { ...fields, timeframe: 'day', action: 'DISABLE', limit_amount: 0 };
    expect(await must('PUT', `/v2/quotas/${quota.id}`, changed)).toMatchObject({ ...changed, current_usage: 7 });
    const visible = await call('GET', '/v2/quotas', undefined, key);
    expect(visible.body.quotas.map(({ id }: { id: string }) => id)).toEqual([quota.id]);
    expect((await call('GET', `/v2/${limited}/quotas`, undefined, key)).body.quotas).toHaveLength(1);
    for (const [method, path, body] of [
      ['POST', '/v2/quotas', { organization_id: limited, ...fields }],
      ['POST', '/v2/billing/accounts', { name: 'x', billing_email: 'a@a.example' }],
      ['POST', '/v2/billing/products', { slug: 'x', name: 'x' }],
    ] as const)
      expect([path, (await call(method, path, body, key)).status]).toEqual([path, 403]);
    for (const method of ['PUT', 'DELETE'])
      expect((await call(method, `/v2/quotas/${quota.id}`, method === 'PUT' ? fields : undefined, key)).status).toBe(
        404,
      );
    expect((await call('GET', '/v2/billing/accounts', undefined, key)).body.billing_accounts).toEqual([]);
    expect((await call('GET', '/v2/quotas', undefined, other.key)).body.quotas).toEqual([]);
    for (const [field, body] of [
      ['/organization_id', fields],
      ['/organization_id', { ...fields, organization_id: other.team }],
      ['/billing_account_id', { ...fields, billing_account_id: UNKNOWN }],
      ['/limit_type', { ...fields, organization_id: limited, limit_type: 'records' }],
      ['/limit_unit', { ...fields, organization_id: limited, limit_unit: 'gb' }],
      ['/limit_amount', { ...fields, organization_id: limited, limit_amount: -1 }],
      ['/limit_amount', { ...fields, organization_id: limited, limit_amount: 1e300 }],
      ['/timeframe', { ...fields, organization_id: limited, timeframe: 'week' }],
      ['/action', { ...fields, organization_id: limited, action: 'PAUSE' }],
    ] as const)
      expect([field, ...(await issue('POST', '/v2/quotas', body))]).toEqual([field, 400, field]);
    const both = { ...fields, organization_id: limited, billing_account_id: UNKNOWN };
    expect(await issue('POST', '/v2/quotas', both)).toEqual([400, '/organization_id']);
  });
});

it('costs are exact in whole cents, rounded half up', () => {
  expect(costInCents(0, 1e9, 25)).toBe(0);
  expect([19_999_999, 20_000_000].map((bytes) => costInCents(bytes, 1e9, 25))).toEqual([0, 1]);
  // Floating-point numbers would be off by cents.
  expect(costInCents(9_007_199_254_740_991, 1e9, 1_000_001)).toBe(9_007_208_261_940);
});
