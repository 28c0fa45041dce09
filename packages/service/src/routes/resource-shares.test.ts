import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, PUBLIC_URL, type Answer, type TestService } from '../../../../test/support/service.js';
import { openStored } from '../../../../test/support/stored-secrets.js';
import { startVendor, type Reply, type Vendor } from '../../../../test/support/vendor.js';

const SECRET = 'canary-value-of-the-owner';
const STRANGER = '00000000-0000-4000-8000-000000000000';

interface Team {
  id: string;
  /** An API key of the team itself. */
  key: string;
}

const graph = (input: string, output: string, config_overrides?: object) => ({
  name: 'P',
  nodes: [
    { slug: 'in', component_id: input, component_type: 'input' },
    { slug: 'out', component_id: output, component_type: 'output', ...(config_overrides && { config_overrides }) },
  ],
  edges: [{ from_node_instance_id: 'in', to_node_instance_id: 'out' }],
});
const sharesOf = (type: string, id: string) => `/v3/~/resource_shares/${type}/${id}`;
const issuesOf = ({ body }: Answer) =>
  body.additional_details.issues.map(({ path, code }: Record<string, string>) => [path, code]);
const targetsOf = (rows: { target_organization_id: string }[]) => rows.map((row) => row.target_organization_id);

const destinationAt = (endpoint: string) => ({
  kind: 'output',
  type: 'http',
  settings: { endpoint, method: 'POST', payload_structure: 'array' },
});
const withSecret = (id: string, endpoint: string) => ({
  name: 'out',
  type: 'http',
  config: {
    settings: { endpoint, method: 'POST', payload_structure: 'array' },
    secrets: { auth_headers: { id } },
  },
});

describe.each(eachDatabase())('shares on $name', (databases) => {
  let service: TestService;
  let owner: { id: string; key: string };
  let hosts = 0;
  let vendor: Vendor;
  let answer: () => Reply;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open(), egressAllow: ['127.0.0.1/32'], run: {} });
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });
  beforeEach(async () => {
    answer = () => ({});
    vendor = await startVendor(() => answer());
    owner = await service.tenant(`Host ${(hosts += 1)}`);
  });
  afterEach(() => vendor.close());

  const call = (by: { id: string; key: string }, method: string, path: string, body?: object) =>
    service.call(method, path.replace('~', by.id), { key: by.key, ...(body && { body }) });
  async function made(by: { id: string; key: string }, path: string, body: object) {
    const response = await call(by, 'POST', path, body);
    expect(response.status, response.text).toBeLessThan(300);
    return response.body;
  }
  async function newTeam(name: string): Promise<Team> {
    service.clock.advance(1);
    const { id } = await made(owner, '/v3/~/organizations', { name });
    const permissions = ['read', 'write', 'keys:manage', 'session:create'];
    const { key } = await made({ ...owner, id }, '/v3/~/api-keys', { name, permissions });
    return { id, key };
  }
  const newOutput = (by = owner, endpoint = vendor.origin) =>
    made(by, '/v2/~/outputs', {
      name: 'SIEM of the host',
      description: 'In rack 7',
      type: 'http',
      config: {
        settings: { endpoint, method: 'POST', payload_structure: 'array' },
        secrets: { auth_headers: { value: { 'x-key': SECRET } } },
      },
    });
  const newInput = (by: Team) => made(by, '/v2/~/inputs', { name: 'in', type: 'monad-http', config: {} });
  const newSecret = (
    value: unknown = { 'x-key': SECRET },
    rest: object = { destinations: [destinationAt(vendor.origin)] },
  ) => made(owner, '/v2/~/secrets', { name: 'Key of the host', description: 'For the SIEM', value, ...rest });
  const errorIn = async (by: { id: string; key: string }, id: string) =>
    (await call(by, 'GET', `/v2/~/pipelines/${id}/status`)).body.last_error;
  const share = (type: string, id: string, body: object) => call(owner, 'POST', sharesOf(type, id), body);
  const shareWith = async (type: string, id: string, ...teams: Team[]) => {
    const shared = await share(type, id, { share_organization_ids: teams.map((team) => team.id) });
    expect(shared.status, shared.text).toBe(200);
    return shared.body;
  };

  describe('of an output', () => {
    it("delivers a team's records, and shows the team a name and a type", async () => {
      const [team, other] = [await newTeam('A'), await newTeam('B')];
      const output = await newOutput();
      await shareWith('component', output.id, team);
      const input = await newInput(team);
      const pipeline = await made(team, '/v2/~/pipelines', graph(input.id, output.id));
      await service.engine?.append(input.id, [JSON.stringify({ text: 'one' })]);
      await expect.poll(() => vendor.requests.map(({ body }) => JSON.parse(body))).toContainEqual([{ text: 'one' }]);
      expect(vendor.requests.at(-1)?.headers['x-key']).toBe(SECRET);

      const read = await call(team, 'GET', `/v1/~/outputs/${output.id}`);
      expect(read.body).toMatchObject({
        id: output.id,
        name: 'SIEM of the host',
        type: 'http',
        description: '',
        organization_id: owner.id,
        config: { settings: {}, secrets: {} },
        references: { secrets: [] },
        share_details: {
          shared_with_me: true,
          shared_with_children: false,
          owner_organization_id: owner.id,
          owner_organization_name: `Host ${hosts}`,
        },
        component_of: [{ id: pipeline.id }],
      });
      const listed = await call(team, 'GET', '/v1/~/outputs');
      expect(listed.body.pagination.total).toBe(1);
      expect(listed.body.outputs[0]).toMatchObject({ id: output.id, config: { settings: {}, secrets: {} } });
      const answers = [
        read,
        listed,
        ...(await Promise.all(
          [
            `/v2/~/pipelines/${pipeline.id}`,
            `/v2/~/pipelines/${pipeline.id}/status`,
            `/v2/~/pipelines/${pipeline.id}/logs`,
            '/v3/~/audit_logs',
            '/v2/~/secrets',
          ].map((path) => call(team, 'GET', path)),
        )),
      ];
      for (const { text } of answers)
        for (const hidden of [vendor.origin, SECRET, 'rack 7', output.config.secrets.auth_headers.id])
          expect(text).not.toContain(hidden);

      expect((await call(other, 'GET', `/v1/~/outputs/${output.id}`)).status).toBe(404);
      expect((await call(other, 'GET', '/v1/~/outputs')).body.outputs).toEqual([]);
      const used = await call(owner, 'GET', `/v1/~/outputs/${output.id}`);
      expect(used.body).toMatchObject({ share_details: { shared_with_me: false, shared_with_children: true } });
      expect(used.body.config.settings).toMatchObject({ endpoint: vendor.origin });
    });

    it('can be changed, tested, previewed, deleted and shared by its owner alone', async () => {
      const team = await newTeam('A');
      const output = await newOutput();
      const path = `/v2/~/outputs/${output.id}`;
      const config = { settings: { endpoint: 'https://attacker.example', method: 'POST', payload_structure: 'array' } };
      const whole = { name: 'mine', type: 'http', config };
      const attempts = (): Promise<Answer[]> =>
        Promise.all([
          call(team, 'PATCH', path, { name: 'mine' }),
          call(team, 'PUT', path, whole),
          call(team, 'POST', `${path}/preview`, whole),
          call(team, 'POST', '/v2/~/outputs/test-connection', { ...whole, id: output.id }),
          call(team, 'DELETE', `/v1/~/outputs/${output.id}`),
        ]);
      expect((await attempts()).map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
      await shareWith('component', output.id, team);
      expect((await attempts()).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
      expect((await call(team, 'POST', sharesOf('component', output.id), {})).status).toBe(404);
      expect((await call(team, 'GET', `${sharesOf('component', output.id)}/usage`)).status).toBe(404);
      // Naming its secret does not give it to the team.
      const stolen = {
        ...whole,
        config: { ...config, secrets: { auth_headers: { id: output.config.secrets.auth_headers.id } } },
      };
      expect((await call(team, 'POST', '/v2/~/outputs', stolen)).status).toBe(404);
      const removal = { output_id: output.id, cleanup: { output: true } };
      expect((await call(team, 'POST', '/v2/~/integrations/delete', removal)).status).toBe(204);
      expect((await call(owner, 'GET', `/v1/~/outputs/${output.id}`)).body).toMatchObject({
        name: 'SIEM of the host',
        version: 1,
      });
    });

    it('is not there for sessions of the form', async () => {
      const team = await newTeam('A');
      const output = await newOutput();
      await shareWith('component', output.id, team);
      const scope = { organization_id: team.id, kind: 'output', connector_id: output.id };
      expect((await call(team, 'POST', '/v3/sessions', scope)).status).toBe(404);
      const session = await made(team, '/v3/sessions', { organization_id: team.id });
      for (const [method, body] of [['GET'], ['PATCH', { name: 'mine' }]] as const) {
        const version = method === 'GET' ? 'v1' : 'v2';
        const response = await service.call(method, `/${version}/${team.id}/outputs/${output.id}`, {
          session: session.session_token,
          ...(body && { body }),
          headers: { origin: PUBLIC_URL },
        });
        expect(response.status).toBe(404);
      }
    });

    it('cannot be overridden, and no team gets more than outputs', async () => {
      const team = await newTeam('A');
      const output = await newOutput();
      await shareWith('component', output.id, team);
      const input = await newInput(team);
      const refused = await call(
        team,
        'POST',
        '/v2/~/pipelines',
        graph(input.id, output.id, { settings: { rate_limit: 5 } }),
      );
      expect([refused.status, issuesOf(refused)]).toEqual([400, [['/nodes/1/config_overrides', 'not_supported']]]);
      const own = await newInput(owner);
      const transform = await made(owner, '/v2/~/transforms', { name: 'T', config: { operations: [] } });
      for (const { id } of [own, transform])
        expect((await share('component', id, { all_current_children: true })).status).toBe(400);
      const { id } = output.config.secrets.auth_headers;
      expect((await share('secret', id, { all_current_children: true })).status).toBe(400);
      expect((await share('component', STRANGER, { all_current_children: true })).status).toBe(404);
    });

    it('tells a team that it failed, and its owner why', async () => {
      const team = await newTeam('A');
      const output = await newOutput();
      await shareWith('component', output.id, team);
      answer = () => ({ status: 401, body: 'rack 7 says no' });
      const pipelines = [];
      for (const by of [team, owner]) {
        const input = await newInput(by);
        const pipeline = await made(by, '/v2/~/pipelines', graph(input.id, output.id));
        await service.engine?.append(input.id, [JSON.stringify({ text: 'kept' })]);
        pipelines.push(pipeline.id);
      }
      const [ofTeam = '', ofOwner = ''] = pipelines;
      await expect.poll(() => errorIn(owner, ofOwner)).toBeTruthy();
      await expect.poll(() => errorIn(team, ofTeam)).toBeTruthy();
      const [seen, whole] = [await errorIn(team, ofTeam), await errorIn(owner, ofOwner)];
      expect(seen.code).toBe(whole.code);
      expect(seen.message).toContain('Its owner');
      expect(whole.message).not.toContain('Its owner');
      const { port } = new URL(vendor.origin);
      const texts = await Promise.all(
        ['status', 'logs', 'state'].map(
          async (what) => (await call(team, 'GET', `/v2/~/pipelines/${ofTeam}/${what}`)).text,
        ),
      );
      for (const text of texts) for (const hidden of ['127.0.0.1', port, 'rack 7']) expect(text).not.toContain(hidden);
    });

    it('follows its owner while it runs', async () => {
      const team = await newTeam('A');
      const output = await newOutput();
      await shareWith('component', output.id, team);
      const input = await newInput(team);
      await made(team, '/v2/~/pipelines', graph(input.id, output.id));
      const moved = await startVendor(() => ({}));
      const settings = { ...output.config.settings, endpoint: moved.origin };
      const body = { config: { settings, secrets: { auth_headers: { value: { 'x-key': 'next' } } } } };
      expect((await call(owner, 'PATCH', `/v2/~/outputs/${output.id}`, body)).body.share_details).toMatchObject({
        shared_with_children: true,
      });
      await expect
        .poll(async () => {
          await service.engine?.append(input.id, [JSON.stringify({ text: 'two' })]);
          return moved.requests.at(-1)?.headers['x-key'];
        })
        .toBe('next');
      const preview = await call(owner, 'POST', `/v2/~/outputs/${output.id}/preview?impact=true`, {
        name: 'SIEM',
        type: 'http',
        config: { settings },
      });
      expect(preview.body.blast_radius).toMatchObject({
        organization_count: 1,
        instances: [{ organization_id: team.id, organization_name: 'A' }],
      });
      await moved.close();
    });

    it('does not run in the pipelines of others, also if someone writes to the database', async () => {
      const [team, other] = [await newTeam('A'), await newTeam('B')];
      const output = await newOutput();
      await shareWith('component', output.id, team);
      const [input, own] = [await newInput(other), await newOutput(other, 'http://127.0.0.1:9')];
      const { id } = await made(other, '/v2/~/pipelines', graph(input.id, own.id));
      await service.database.script((run) =>
        run(
          `update pipelines set version = version + 1, nodes = jsonb_set(nodes, '{1,component_id}', '"${output.id}"') where id = '${id}'`,
        ),
      );
      await call(other, 'PATCH', `/v2/~/pipelines/${id}`, { name: 'Renamed' });
      await expect
        .poll(async () => (await call(other, 'GET', `/v2/~/pipelines/${id}/status`)).body.last_error?.code)
        .toBe('no_runtime');
      await service.engine?.append(input.id, [JSON.stringify({ text: 'stolen' })]);
      expect(vendor.requests).toEqual([]);
    });
  });

  describe('of any resource', () => {
    it('are given to all teams, to some, or to those that come, once each', async () => {
      const [a, b] = [await newTeam('A'), await newTeam('B')];
      const output = await newOutput();
      const first = await shareWith('component', output.id, a);
      expect(targetsOf(first.created)).toEqual([a.id]);
      expect(first).toMatchObject({ revoked: [], skipped_in_use: [], share_with_all_new_children: false });
      expect(first.created[0]).toMatchObject({
        resource_type: 'component',
        resource_id: output.id,
        owner_organization_id: owner.id,
      });
      expect((await shareWith('component', output.id, a)).created).toEqual([]);
      const all = await share('component', output.id, { all_current_children: true });
      // Northwind's first team comes with every tenant of these tests.
      expect(targetsOf(all.body.created)).toContain(b.id);
      expect(targetsOf(all.body.created)).not.toContain(a.id);
      const later = await newTeam('Later');
      expect((await call(later, 'GET', '/v1/~/outputs')).body.outputs).toEqual([]);

      const patched = await call(owner, 'PATCH', sharesOf('component', output.id), {
        share_with_all_new_children: true,
      });
      expect(patched.body).toMatchObject({ created: [], share_with_all_new_children: true });
      const next = await newTeam('Next');
      expect((await call(next, 'GET', '/v1/~/outputs')).body.outputs).toMatchObject([{ id: output.id }]);
      expect((await call(later, 'GET', '/v1/~/outputs')).body.outputs).toEqual([]);
      // Absent: unchanged.
      expect((await share('component', output.id, {})).body.share_with_all_new_children).toBe(true);

      const gone = await call(owner, 'DELETE', sharesOf('component', output.id));
      expect(targetsOf(gone.body.revoked)).toEqual(expect.arrayContaining([a.id, b.id, next.id]));
      expect(gone.body.share_with_all_new_children).toBe(false);
      expect((await call(next, 'GET', '/v1/~/outputs')).body.outputs).toEqual([]);
      const last = await newTeam('Last');
      expect((await call(last, 'GET', '/v1/~/outputs')).body.outputs).toEqual([]);
    });

    it('are given to teams of the owner alone', async () => {
      const stranger = await service.tenant('Other host');
      const team = await newTeam('A');
      const output = await newOutput();
      for (const id of [stranger.id, stranger.team, owner.id, STRANGER]) {
        const refused = await share('component', output.id, { share_organization_ids: [team.id, id] });
        expect([refused.status, issuesOf(refused)]).toEqual([400, [['/share_organization_ids/1', 'unknown']]]);
      }
      expect((await call(owner, 'GET', sharesOf('component', output.id))).body.resource_shares).toEqual([]);
      const own = await newOutput(team);
      expect(
        (await call(team, 'POST', sharesOf('component', own.id), { share_with_all_new_children: true })).status,
      ).toBe(403);
      for (const body of [
        { share_organization_ids: [team.id], revoke_organization_ids: [team.id] },
        { all_current_children: true, revoke_all_not_in_use: true },
        { teams: [team.id] },
      ])
        expect((await share('component', output.id, body)).status).toBe(400);
    });

    it('stay while a team uses them', async () => {
      const [a, b] = [await newTeam('A'), await newTeam('B')];
      const output = await newOutput();
      await shareWith('component', output.id, a, b);
      const input = await newInput(a);
      const pipeline = await made(a, '/v2/~/pipelines', graph(input.id, output.id));
      const refusals = [
        await share('component', output.id, { revoke_organization_ids: [b.id, a.id] }),
        await call(owner, 'DELETE', sharesOf('component', output.id)),
      ];
      for (const { status, body } of refusals) {
        expect([status, body.error_type]).toEqual([409, 'conflict']);
        expect(body.additional_details).toEqual({
          organizations: [{ id: a.id, name: 'A' }],
          users: [{ id: pipeline.id, name: 'P', organization_id: a.id }],
          total: 1,
        });
      }
      const kept = await call(owner, 'GET', sharesOf('component', output.id));
      expect(kept.body.resource_shares).toMatchObject([
        { target_organization_id: a.id, target_organization_name: 'A', in_use: true },
        { target_organization_id: b.id, in_use: false },
      ]);
      const unused = await share('component', output.id, { revoke_all_not_in_use: true });
      expect([targetsOf(unused.body.revoked), targetsOf(unused.body.skipped_in_use)]).toEqual([[b.id], [a.id]]);
      const deleted = await call(owner, 'DELETE', `/v1/~/outputs/${output.id}`);
      expect([deleted.status, deleted.body.additional_details.total]).toEqual([409, 1]);
      const cleanup = { output_id: output.id, cleanup: { output: true } };
      expect((await call(owner, 'POST', '/v2/~/integrations/delete', cleanup)).status).toBe(204);
      expect((await call(owner, 'GET', `/v1/~/outputs/${output.id}`)).status).toBe(200);

      await call(a, 'DELETE', `/v2/~/pipelines/${pipeline.id}`);
      expect((await call(owner, 'DELETE', sharesOf('component', output.id))).status).toBe(200);
      const refused = await call(a, 'POST', '/v2/~/pipelines', graph(input.id, output.id));
      expect([refused.status, issuesOf(refused)]).toEqual([400, [['/nodes/1/component_id', 'unknown']]]);
      await shareWith('component', output.id, a);
      await made(a, '/v2/~/pipelines', graph(input.id, output.id));
      // What belongs to a team goes with it.
      expect((await call(owner, 'DELETE', `/v3/~/organizations/${a.id}`)).status).toBe(204);
      expect((await call(owner, 'DELETE', `/v1/~/outputs/${output.id}`)).status).toBe(200);
    });

    it('are never taken away from a pipeline that is created at the same time', async () => {
      const team = await newTeam('A');
      const output = await newOutput();
      const input = await newInput(team);
      for (let round = 0; round < 8; round += 1) {
        await shareWith('component', output.id, team);
        const [created, revoked] = await Promise.all([
          call(team, 'POST', '/v2/~/pipelines', graph(input.id, output.id)),
          share('component', output.id, { revoke_organization_ids: [team.id] }),
        ]);
        expect([`${created.status} ${revoked.status}`]).toEqual([expect.stringMatching(/^(201 409|400 200)$/)]);
        if (created.status === 201) await call(team, 'DELETE', `/v2/~/pipelines/${created.body.id}`);
      }
    });

    it('are listed by resource, by team, and by use', async () => {
      const [a, b] = [await newTeam('Alpha'), await newTeam('Beta_1')];
      const output = await newOutput();
      const { id: secret } = await made(owner, '/v2/~/secrets', { name: 'Token', value: 'v', destinations: [] });
      await shareWith('component', output.id, b);
      service.clock.advance(1_000);
      await share('secret', secret, { share_with_all_new_children: true });
      const input = await newInput(b);
      const pipeline = await made(b, '/v2/~/pipelines', graph(input.id, output.id));

      const list = async (query = '') => (await call(owner, 'GET', `/v3/~/resource_shares${query}`)).body;
      expect(await list()).toEqual({
        shared_resources: [
          {
            resource_type: 'component',
            resource_id: output.id,
            name: 'SIEM of the host',
            description: 'In rack 7',
            component_type: 'output',
            sub_type: 'http',
            resource_metadata: expect.objectContaining({ type_id: 'http' }),
            explicit_target_count: 1,
            last_shared_at: expect.any(String),
            share_with_all_new_children: false,
          },
          {
            resource_type: 'secret',
            resource_id: secret,
            name: 'Token',
            description: '',
            explicit_target_count: 0,
            share_with_all_new_children: true,
          },
        ],
        pagination: { limit: 10, offset: 0, total: 2 },
      });
      expect((await list('?resource_type=secret')).pagination.total).toBe(1);
      expect((await list('?limit=1&offset=1')).shared_resources).toMatchObject([{ resource_id: secret }]);

      const first = `Host ${hosts} team`;
      const targets = async (query = '') =>
        (await call(owner, 'GET', `${sharesOf('component', output.id)}/organizations${query}`)).body.organizations.map(
          ({ name }: { name: string }) => name,
        );
      expect(await targets()).toEqual(['Beta_1', first, 'Alpha']);
      expect(await targets('?shared=false')).toEqual([first, 'Alpha']);
      expect(await targets('?search=a_')).toEqual(['Beta_1']);
      expect(await targets('?sort_by=name&order=desc')).toEqual([first, 'Beta_1', 'Alpha']);
      expect(await targets('?sort_by=in_use&order=desc&limit=1')).toEqual(['Beta_1']);
      expect(await targets('?sort_by=shared_at')).toEqual(['Beta_1', first, 'Alpha']);
      expect(await targets('?sort_by=shared')).toEqual([first, 'Alpha', 'Beta_1']);

      const usage = await call(owner, 'GET', `${sharesOf('component', output.id)}/usage`);
      expect(usage.body).toEqual({
        usages: [
          {
            resource_type: 'pipeline',
            resource_id: pipeline.id,
            name: 'P',
            organization_id: b.id,
            organization_name: 'Beta_1',
          },
        ],
        pagination: { limit: 10, offset: 0, total: 1 },
      });
      expect(a.id).not.toBe(b.id);
    });

    it('are in the audit log of the owner', async () => {
      const team = await newTeam('A');
      const output = await newOutput();
      await share('component', output.id, { share_organization_ids: [team.id], share_with_all_new_children: true });
      await call(owner, 'DELETE', sharesOf('component', output.id));
      const { body } = await call(owner, 'GET', '/v3/~/audit_logs?limit=4');
      const rows = body.logs.map((row: { action: string; resource: { type: string } }) => [
        row.action,
        row.resource.type,
      ]);
      expect(rows.sort()).toEqual([
        ['delete', 'resource_share'],
        ['delete', 'share_policy'],
        ['insert', 'resource_share'],
        ['insert', 'share_policy'],
      ]);
    });
  });

  describe('of a secret', () => {
    it('is sent where its owner allows it, and nowhere else', async () => {
      const [team, other] = [await newTeam('A'), await newTeam('B')];
      const secret = await newSecret();
      expect((await call(team, 'POST', '/v2/~/outputs', withSecret(secret.id, vendor.origin))).status).toBe(404);
      await shareWith('secret', secret.id, team);
      const output = await made(team, '/v2/~/outputs', withSecret(secret.id, vendor.origin));
      expect(output.references.secrets).toEqual([
        { id: secret.id, name: 'Key of the host', organization_id: owner.id, shared: true },
      ]);
      expect((await call(other, 'POST', '/v2/~/outputs', withSecret(secret.id, vendor.origin))).status).toBe(404);
      const attempts = [
        await call(team, 'POST', '/v2/~/outputs', withSecret(secret.id, 'https://attacker.example')),
        await call(team, 'PATCH', `/v2/~/outputs/${output.id}`, {
          config: { settings: { ...output.config.settings, endpoint: 'https://attacker.example' }, secrets: {} },
        }),
        await call(team, 'POST', '/v2/~/outputs/test-connection', withSecret(secret.id, 'https://attacker.example')),
      ];
      expect(attempts.map(({ body }) => body.error_type)).toEqual([
        'secret_not_allowed',
        'secret_reentry_required',
        'secret_not_allowed',
      ]);
      // Not restricted: its owner, and nobody else, adds destinations by using it.
      const open = await newSecret({ 'x-key': SECRET }, {});
      await shareWith('secret', open.id, team);
      expect((await call(team, 'POST', '/v2/~/outputs', withSecret(open.id, vendor.origin))).body.error_type).toBe(
        'secret_not_allowed',
      );
      await made(owner, '/v2/~/outputs', withSecret(open.id, vendor.origin));
      await made(team, '/v2/~/outputs', withSecret(open.id, vendor.origin));
    });

    it('shows a team its name, and is changed by its owner alone', async () => {
      const team = await newTeam('A');
      const secret = await newSecret();
      await shareWith('secret', secret.id, team);
      const output = await made(team, '/v2/~/outputs', withSecret(secret.id, vendor.origin));
      const { body, text } = await call(team, 'GET', `/v2/~/secrets/${secret.id}`);
      expect(body).toMatchObject({
        id: secret.id,
        organization_id: owner.id,
        name: 'Key of the host',
        description: 'For the SIEM',
        share_details: {
          shared_with_me: true,
          owner_organization_id: owner.id,
          owner_organization_name: `Host ${hosts}`,
        },
        outputs: [{ id: output.id }],
      });
      for (const hidden of [vendor.origin, SECRET]) expect(text).not.toContain(hidden);
      const listed = (await call(team, 'GET', '/v2/~/secrets')).body;
      expect([listed.secrets[0].id, listed.pagination.total]).toEqual([secret.id, 1]);
      expect((await call(team, 'PATCH', `/v2/~/secrets/${secret.id}`, { value: { a: 'b' } })).status).toBe(403);
      expect((await call(team, 'DELETE', `/v2/~/secrets/${secret.id}`)).status).toBe(403);
      const refused = await call(owner, 'DELETE', `/v2/~/secrets/${secret.id}`);
      expect([refused.status, refused.body.additional_details.outputs]).toEqual([
        409,
        [{ id: output.id, organization_id: team.id, type: 'http', name: 'out' }],
      ]);
      const usage = await call(owner, 'GET', `${sharesOf('secret', secret.id)}/usage`);
      expect(usage.body.usages).toMatchObject([
        { resource_type: 'component', component_type: 'output', sub_type: 'http', resource_id: output.id },
      ]);
      expect((await call(owner, 'DELETE', sharesOf('secret', secret.id))).status).toBe(409);
      await call(team, 'DELETE', `/v1/~/outputs/${output.id}`);
      expect((await call(owner, 'DELETE', sharesOf('secret', secret.id))).status).toBe(200);
      expect((await call(owner, 'DELETE', `/v2/~/secrets/${secret.id}`)).status).toBe(204);
    });

    it('is rotated for all teams at once, while their pipelines run', async () => {
      const team = await newTeam('A');
      const secret = await newSecret();
      await shareWith('secret', secret.id, team);
      const output = await made(team, '/v2/~/outputs', withSecret(secret.id, vendor.origin));
      const input = await newInput(team);
      await made(team, '/v2/~/pipelines', graph(input.id, output.id));
      const sent = (value: string) =>
        expect
          .poll(async () => {
            await service.engine?.append(input.id, [JSON.stringify({ text: value })]);
            return vendor.requests.at(-1)?.headers['x-key'];
          })
          .toBe(value);
      await sent(SECRET);
      const rotated = await call(owner, 'PATCH', `/v2/~/secrets/${secret.id}`, { value: { 'x-key': 'next' } });
      expect(rotated.status, rotated.text).toBe(200);
      await sent('next');
      expect(await openStored(service, team.id, output.id)).toEqual({ auth_headers: { 'x-key': 'next' } });
      const narrowed = await call(owner, 'PATCH', `/v2/~/secrets/${secret.id}`, { destinations: [] });
      expect([narrowed.status, narrowed.body.additional_details.outputs]).toMatchObject([409, [{ id: output.id }]]);
    });

    it('does not open once the share is gone, also if someone writes to the database', async () => {
      const team = await newTeam('A');
      const secret = await newSecret();
      await shareWith('secret', secret.id, team);
      const output = await made(team, '/v2/~/outputs', withSecret(secret.id, vendor.origin));
      await service.database.script((run) => run(`delete from resource_shares where secret_id = '${secret.id}'`));
      await expect(openStored(service, team.id, output.id)).rejects.toThrow();
    });

    it("is not for the transforms of a team, which could copy it into the team's records", async () => {
      const team = await newTeam('A');
      const secret = await newSecret(Buffer.alloc(32, 7).toString('base64'), { destinations: [{ kind: 'transform' }] });
      await shareWith('secret', secret.id, team);
      const encryption_key = { id: secret.id };
      const operations = [{ operation: 'encrypt', arguments: { key: 'a' }, secrets: { encryption_key } }];
      const body = { name: 'T', config: { operations } };
      expect((await call(owner, 'POST', '/v2/~/transforms', body)).status).toBe(201);
      const refused = await call(team, 'POST', '/v2/~/transforms', body);
      expect([refused.status, issuesOf(refused)]).toEqual([
        422,
        [['/config/operations/0/secrets/encryption_key/id', 'unknown']],
      ]);
    });
  });
});
