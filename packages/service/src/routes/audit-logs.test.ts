import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { removeExpiredAuditLogs, RETENTION_BATCH } from '../audit/retention.js';

const DAY = 86_400_000;
const SECRET = '00aBcDeFgHiJkLmNoPqRsTuVwXyZ';

interface Row {
  resource: { type: string; old: State; new: State };
}
type State = { config: { secrets: { api_key: { changed?: true } } } } | null;

const shapes = (rows: { action: string; resource: { type: string; id: string } }[]) =>
  rows.map(({ action, resource }) => `${resource.type} ${action} ${resource.id}`);
const okta = (name = 'Okta') => ({
  name,
  type: 'okta-systemlog',
  config: { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: SECRET } } },
});
const node = (slug: string, component_id: string, component_type: string) => ({
  slug,
  component_id,
  component_type,
});
const edge = (from: string, to: string) => ({
  from_node_instance_id: from,
  to_node_instance_id: to,
  conditions: { operator: 'always' },
});

describe.each(eachDatabase())('the audit log on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let team: string;
  let start: string;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });
  beforeEach(async () => {
    service.clock.advance(60_000);
    team = (await call('POST', `/v3/${acme.id}/organizations`, { name: 'Team' })).body.id;
    start = new Date(service.clock.now()).toISOString();
  });

  const call = (method: string, path: string, body?: unknown, key = acme.key) =>
    service.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const logs = async (query = '', org = team, key = acme.key) => {
    const { status, body } = await call('GET', `/v3/${org}/audit_logs${query}`, undefined, key);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.logs;
  };
  const histogram = (query: string) => call('GET', `/v3/${team}/audit_logs/histogram?${query}`);
  const make = async (path: string, body: object): Promise<string> =>
    (await call('POST', `/v2/${team}/${path}`, body)).body.id;
  const transform = (name = 'T') => make('transforms', { name, config: { operations: [] } });

  describe('a row', () => {
    it('tells the key with its role, the request, and what was before and after', async () => {
      const made = await call('POST', `/v2/${team}/inputs`, okta());
      const changed = await call('PATCH', `/v2/${team}/inputs/${made.body.id}`, { name: 'Renamed' });
      const [update, insert] = await logs();
      const { body: key } = await call('GET', '/v3/api-keys/current');
      expect(insert).toMatchObject({
        organization_id: team,
        action: 'insert',
        occurred_at: made.body.created_at,
        request_id: made.headers.get('request-id'),
        actor: {
          id: key.id,
          name: key.name,
          auth_method: 'api_key',
          role: { id: 'admin', name: 'Admin', organization_id: acme.id, inherited: true },
        },
        resource: { type: 'input', id: made.body.id, old: null, new: { name: 'Okta', version: 1 } },
      });
      expect(update).toMatchObject({
        action: 'update',
        request_id: changed.headers.get('request-id'),
        resource: { old: { name: 'Okta', version: 1 }, new: { name: 'Renamed', version: 2 } },
      });
      await call('DELETE', `/v1/${team}/inputs/${made.body.id}`);
      const [removal] = await logs();
      expect(removal).toMatchObject({ action: 'delete', resource: { old: { name: 'Renamed' }, new: null } });
      expect(Object.keys(removal.resource.old.config.secrets)).toEqual(['api_key']);
    });

    it('names a custom role, and none for a key with permissions', async () => {
      const role = await make('roles', { name: 'Transformers', permission_ids: ['transform:write'] });
      const expiration_time = '2099-01-01T00:00:00Z';
      const { body: custom } = await call('POST', `/v2/${team}/api_keys`, {
        name: 'A',
        role_id: role,
        expiration_time,
      });
      const { body: plain } = await call('POST', `/v3/${team}/api-keys`, { name: 'B', permissions: ['write'] });
      for (const key of [custom.token, plain.key])
        await call('POST', `/v2/${team}/transforms`, { name: 'T', config: { operations: [] } }, key);
      const [second, first] = await logs('?resource_type=transform');
      expect(first.actor).toEqual({
        id: custom.id,
        name: 'A',
        auth_method: 'api_key',
        role: { id: role, name: 'Transformers', organization_id: team, inherited: false },
      });
      expect(second.actor).toEqual({ id: plain.id, name: 'B', auth_method: 'api_key' });
    });

    it('tells that a secret was set, but neither its value nor a token nor a digest', async () => {
      const id = await make('inputs', okta());
      const secrets = { api_key: { value: `${SECRET}2` } };
      const settings = { org_url: 'https://acme.okta.com' };
      await call('PATCH', `/v2/${team}/inputs/${id}`, { config: { settings, secrets } });
      await call('PATCH', `/v2/${team}/inputs/${id}`, { config: { settings } });
      const expiration_time = '2099-01-01T00:00:00Z';
      const { body: made } = await call('POST', `/v2/${team}/api_keys`, {
        name: 'K',
        role_id: 'reader',
        expiration_time,
      });
      const { body: again } = await call('POST', `/v2/${team}/api_keys/${made.id}/regenerate`, {});
      const rows = await logs();
      const ofInput = rows.filter(({ resource }: { resource: { type: string } }) => resource.type === 'input');
      expect(ofInput.map(({ resource }: Row) => resource.new?.config.secrets.api_key.changed)).toEqual([
        undefined,
        true,
        true,
      ]);
      expect(ofInput.map(({ resource }: Row) => resource.old?.config.secrets.api_key.changed)).toEqual(
        ofInput.map(() => undefined),
      );
      const [{ resource }] = rows;
      expect([resource.old.token_version, resource.new.token_version]).toEqual([1, 2]);
      const stored = await service.database.script((run) =>
        run(`select encode(digest, 'hex') as digest, hint from api_keys where id = '${made.id}'`),
      );
      const text = JSON.stringify(rows);
      for (const hidden of [SECRET, made.token, again.token, stored[0]?.['digest'], stored[0]?.['hint']])
        expect(text).not.toContain(hidden);
    });

    it('tells that a shared secret was set, renamed or given another destination', async () => {
      const secret = await make('secrets', { name: 'Token', value: SECRET });
      const reference = { api_key: { id: secret } };
      const { config } = okta();
      const input = await make('inputs', { ...okta(), config: { ...config, secrets: reference } });
      const pipeline = await make('pipelines', {
        name: 'P',
        nodes: [{ slug: 'in', component_id: input, component_type: 'input' }],
      });
      await call('PATCH', `/v2/${team}/secrets/${secret}`, { name: 'Renamed' });
      await call('PATCH', `/v2/${team}/secrets/${secret}`, { value: `${SECRET}4` });
      const rows = await logs(`?resource_type=secret&resource_id=${secret}`);
      const seen = rows.map(({ action, resource }: { action: string; resource: { new: Record<string, unknown> } }) => [
        action,
        resource.new['name'],
        resource.new['changed'],
      ]);
      expect(seen).toEqual([
        ['update', 'Renamed', true],
        ['update', 'Renamed', undefined],
        ['update', 'Token', undefined],
        ['insert', 'Token', true],
      ]);
      expect(rows[1].resource.new.destinations).toEqual([
        { kind: 'input', type: 'okta-systemlog', settings: expect.objectContaining(config.settings) },
      ]);
      expect(JSON.stringify(rows)).not.toContain(SECRET);
      expect(shapes(await logs(`?resource_type=pipeline&resource_id=${pipeline}`))).toEqual([
        `secret update ${secret}`,
        `secret update ${secret}`,
        `pipeline insert ${pipeline}`,
      ]);
    });

    it('of a connector tells whether its secret was set or renamed', async () => {
      const input = await call('POST', `/v2/${team}/inputs`, okta());
      const { id } = input.body.config.secrets.api_key;
      await call('PATCH', `/v2/${team}/secrets/${id}`, { name: 'Renamed' });
      const rows = await logs();
      expect(shapes(rows)).toEqual([`input update ${input.body.id}`, `input insert ${input.body.id}`]);
      expect(rows[0].resource.new.config.secrets.api_key).toMatchObject({ id, name: 'Renamed' });
      expect(rows[0].resource.new.config.secrets.api_key).not.toHaveProperty('changed');
    });

    it('of a session names its organization and its key', async () => {
      const session = await service.session({ ...acme, team });
      const made = await service.call('POST', `/v2/${team}/inputs`, { session, body: okta() });
      const { body: key } = await call('GET', '/v3/api-keys/current');
      const [row] = await logs();
      expect(row.actor).toMatchObject({ auth_method: 'session', organization_id: team, api_key_id: key.id });
      expect(row.request_id).toBe(made.headers.get('request-id'));
      expect(shapes(await logs(`?actor_id=${row.actor.id}`))).toEqual([`input insert ${made.body.id}`]);
      expect(shapes(await logs(`?actor_id=${key.id}`))).toContain(`input insert ${made.body.id}`);
    });

    it('of a created or deleted team is in the log of its parent', async () => {
      await call('PATCH', `/v3/${acme.id}/organizations/${team}`, { name: 'Renamed' });
      expect(shapes(await logs())).toEqual([`organization update ${team}`]);
      await call('DELETE', `/v3/${acme.id}/organizations/${team}`);
      const rows = await logs(`?resource_id=${team}`, acme.id);
      expect(shapes(rows)).toEqual([`organization delete ${team}`, `organization insert ${team}`]);
      expect(rows[0].resource.old.name).toBe('Renamed');
    });

    it('of the first organization and its key names the bootstrap', async () => {
      const rows = await logs(`?to=${start}&resource_type=api_key`, acme.id);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ action: 'insert', request_id: '', actor: { auth_method: 'service' } });
    });
  });

  describe('the list', () => {
    it('pages from the newest, without a gap or a repetition while rows are added', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 7; n += 1) ids.push(await transform(`T${n}`));
      const read: string[] = [];
      let query = '?limit=3';
      for (let page = 0; page < 3; page += 1) {
        const { body } = await call('GET', `/v3/${team}/audit_logs${query}`);
        read.push(...body.logs.map(({ resource }: { resource: { id: string } }) => resource.id));
        expect(body.pagination.limit).toBe(3);
        expect(body.pagination.next_cursor === undefined).toBe(page === 2);
        query = `?limit=3&cursor=${body.pagination.next_cursor}`;
        await transform(`later ${page}`);
        service.clock.advance(1_000);
      }
      expect(read).toEqual(ids.toReversed());
    });

    it('has 50 rows by default, at most 100, and ends a page early that would be large', async () => {
      for (const [query, status] of [
        ['limit=100', 200],
        ['limit=101', 400],
        ['limit=0', 400],
        ['cursor=x', 400],
        ['action=read', 400],
        ['resource_type=user', 400],
        ['from=0000-01-01T00:00:00Z', 400],
      ] as const)
        expect([query, (await call('GET', `/v3/${team}/audit_logs?${query}`)).status]).toEqual([query, status]);
      const input = await make('inputs', { name: 'In', type: 'monad-http', config: {} });
      service.clock.advance(1_000);
      const from = new Date(service.clock.now()).toISOString();
      const position = { texts: Array.from({ length: 3 }, () => 'x'.repeat(65_000)) };
      const nodes = [{ slug: 'in', component_id: input, component_type: 'input', position }];
      const ids: string[] = [];
      for (let n = 0; n < 26; n += 1) ids.push(await make('pipelines', { name: `P${n}`, nodes }));
      const first = await call('GET', `/v3/${team}/audit_logs?from=${from}`);
      expect(first.body.pagination.limit).toBe(50);
      expect(first.body.logs.length).toBeLessThan(25);
      const rest = await call('GET', `/v3/${team}/audit_logs?from=${from}&cursor=${first.body.pagination.next_cursor}`);
      const read = [...first.body.logs, ...rest.body.logs].map(({ resource }) => resource.id);
      expect(read).toEqual(ids.toReversed());
    });

    it('filters by resource, actor, action and time', async () => {
      const first = await transform();
      service.clock.advance(1_000);
      const middle = new Date(service.clock.now()).toISOString();
      const second = await transform();
      await call('PATCH', `/v2/${team}/transforms/${first}`, { name: 'Renamed' });
      await make('roles', { name: 'R', permission_ids: ['input:read'] });
      expect(shapes(await logs(`?resource_id=${first}`))).toEqual([
        `transform update ${first}`,
        `transform insert ${first}`,
      ]);
      expect(await logs('?resource_type=transform')).toHaveLength(3);
      expect(shapes(await logs('?action=update'))).toEqual([`transform update ${first}`]);
      expect(shapes(await logs(`?to=${middle}`))).toEqual([`transform insert ${first}`]);
      expect(shapes(await logs(`?from=${middle}&resource_id=${second}`))).toEqual([`transform insert ${second}`]);
      expect(await logs('?actor_id=nobody')).toEqual([]);
    });

    it('of a pipeline has the changes of its components while it used them', async () => {
      const input = await make('inputs', okta());
      const [used, other] = [await transform('used'), await transform('other')];
      const output = await make('outputs', { name: 'Out', type: 'dev-null', config: {} });
      const direct = {
        nodes: [node('in', input, 'input'), node('out', output, 'output')],
        edges: [edge('in', 'out')],
      };
      const through = {
        nodes: [...direct.nodes, node('t', used, 'transform')],
        edges: [edge('in', 't'), edge('t', 'out')],
      };
      const rename = (path: string, name: string) => call('PATCH', `/v2/${team}/${path}`, { name });
      const pipeline = await make('pipelines', { name: 'P', ...direct });
      await rename(`transforms/${used}`, 'not used yet');
      await call('PATCH', `/v2/${team}/pipelines/${pipeline}`, through);
      await rename(`transforms/${used}`, 'in use');
      await rename(`transforms/${other}`, 'never used');
      await call('PATCH', `/v2/${team}/inputs/${input}`, {
        config: { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: `${SECRET}3` } } },
      });
      await call('PATCH', `/v2/${team}/pipelines/${pipeline}`, direct);
      await rename(`transforms/${used}`, 'no longer used');
      const merged = `?resource_type=pipeline&resource_id=${pipeline}`;
      const rows = await logs(merged);
      expect(shapes(rows)).toEqual([
        `pipeline update ${pipeline}`,
        `input update ${input}`,
        `transform update ${used}`,
        `pipeline update ${pipeline}`,
        `pipeline insert ${pipeline}`,
      ]);
      expect(rows[1].resource.new.config.secrets.api_key.changed).toBe(true);
      expect(rows[2].resource.new.name).toBe('in use');
      const all = { pipeline_id: pipeline, input_id: input, output_id: output };
      await call('POST', `/v2/${team}/integrations/delete`, all);
      expect(
        shapes(await logs(merged))
          .slice(0, 3)
          .toSorted(),
      ).toEqual([`input delete ${input}`, `output delete ${output}`, `pipeline delete ${pipeline}`].toSorted());
    });
  });

  it('counts over time what it lists', async () => {
    const from = new Date(service.clock.now()).toISOString();
    const id = await transform();
    for (let n = 0; n < 40; n += 1) {
      service.clock.advance(1_237);
      await call('PATCH', `/v2/${team}/transforms/${id}`, { name: `T${n}` });
    }
    await make('roles', { name: 'R', permission_ids: ['input:read'] });
    service.clock.advance(1);
    const to = new Date(service.clock.now()).toISOString();
    for (const filter of ['', '&action=update', '&resource_type=role']) {
      const listed = await logs(`?limit=100&from=${from}&to=${to}${filter}`);
      for (const buckets of [1, 7, 100, 500]) {
        const path = `/v3/${team}/audit_logs/histogram?from=${from}&to=${to}&buckets=${buckets}${filter}`;
        const { status, body } = await call('GET', path);
        expect([status, body.buckets.length, body.total]).toEqual([200, buckets, listed.length]);
        expect(body.bucket_seconds * buckets).toBeCloseTo((Date.parse(to) - Date.parse(from)) / 1_000);
        expect([body.latest_occurred_at, body.earliest_occurred_at]).toEqual([
          listed[0].occurred_at,
          listed.at(-1).occurred_at,
        ]);
        // Each row is in the interval that its time is in.
        const starts: number[] = body.buckets.map(({ start: first }: { start: string }) => Date.parse(first));
        const counted = starts.map((first, index) => {
          const end = starts[index + 1] ?? Date.parse(to);
          return listed.filter(({ occurred_at }: { occurred_at: string }) => {
            const time = Date.parse(occurred_at);
            return time >= first && time < end;
          }).length;
        });
        expect(body.buckets.map(({ count }: { count: number }) => count)).toEqual(counted);
        for (const { count, by_action, by_resource_type } of body.buckets)
          for (const parts of [by_action, by_resource_type])
            expect(Object.values<number>(parts).reduce((sum, each) => sum + each, 0)).toBe(count);
      }
    }
    const empty = await histogram(`from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z`);
    expect(empty.body).toMatchObject({ total: 0, bucket_seconds: 864 });
    expect(empty.body.buckets).toHaveLength(100);
    for (const query of [`from=${from}`, `to=${to}`, `from=${to}&to=${from}`, `from=${from}&to=${to}&buckets=501`])
      expect([query, (await histogram(query)).status]).toEqual([query, 400]);
  });

  it('is not for keys with `read`, nor for sessions, nor for other organizations', async () => {
    const keyWith = async (permissions: string[]) =>
      (await call('POST', `/v3/${team}/api-keys`, { name: 'K', permissions })).body.key;
    const window = `from=${start}&to=2099-01-01T00:00:00Z`;
    for (const path of ['audit_logs', `audit_logs/histogram?${window}`]) {
      const read = (key: string) => call('GET', `/v3/${team}/${path}`, undefined, key);
      const refused = await read(await keyWith(['read', 'write', 'sessions:create']));
      expect([refused.status, refused.body.additional_details]).toEqual([
        403,
        { missing_permissions: ['organization:logs:read'] },
      ]);
      expect((await read(await keyWith(['organization:logs:read']))).status).toBe(200);
      const session = await service.session({ ...acme, team });
      expect((await service.call('GET', `/v3/${team}/${path}`, { session })).status).toBe(403);
      const other = await service.tenant('Contoso');
      expect((await read(other.key)).status).toBe(404);
    }
    // A cursor of another organization's row shows nothing of it.
    const { body } = await call('GET', `/v3/${team}/audit_logs?limit=1`);
    expect(await logs(`?cursor=${body.pagination.next_cursor}`, acme.team)).toEqual([]);
  });

  it('keeps rows for the configured days, and removes older ones in batches', async () => {
    const id = await transform();
    await service.database.script((run) =>
      run(`insert into audit_logs (id, organization_id, occurred_at, request_id, action, resource_type, resource_id, actor, pipeline_ids)
        select gen_random_uuid()::text, organization_id, occurred_at - interval '31 days', '', action, resource_type, resource_id, actor, '{}'
        from audit_logs, generate_series(1, ${RETENTION_BATCH + 5}) where resource_id = '${id}'`),
    );
    const sizes: number[] = [];
    const auditLogs = {
      async removeBefore(time: Date, limit: number) {
        const removed = await service.store.auditLogs.removeBefore(time, limit);
        sizes.push(removed);
        return removed;
      },
    };
    const { signal } = new AbortController();
    const remove = (days: number) => removeExpiredAuditLogs(auditLogs, { now: service.clock.now(), days, signal });
    expect(await remove(32)).toBe(0);
    expect(await remove(30)).toBe(RETENTION_BATCH + 5);
    expect(sizes).toEqual([0, RETENTION_BATCH, 5]);
    expect(shapes(await logs(`?resource_id=${id}`))).toEqual([`transform insert ${id}`]);
    service.clock.advance(31 * DAY);
    await remove(30);
    expect(await logs()).toEqual([]);
  });
});
