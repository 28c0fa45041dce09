import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

interface Built {
  pipeline_id: string;
  input_id: string;
  output_id: string;
}

describe.each(eachDatabase())('integrations on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let tenants = 0;
  let input: string;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });
  beforeEach(async () => {
    acme = await service.tenant(`Tenant ${(tenants += 1)}`);
    input = await connector('input');
  });

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.call('POST', `/v2/${acme.team}/${path}`, { key: acme.key, body, headers });
  const connector = async (kind: 'input' | 'output'): Promise<string> => {
    const made = await post(`${kind}s`, exampleBody(typeOf(kind, kind === 'input' ? 'demo' : 'dev-null')));
    return made.body.id;
  };
  const build = async (body: object = {}, headers: Record<string, string> = {}): Promise<Built> => {
    const made = await post('integrations', { input_id: input, name: 'Web', ...body }, headers);
    expect(made.status, made.text).toBe(201);
    return made.body;
  };
  /** Counts the inputs, outputs and pipelines. */
  const left = (): Promise<number[]> =>
    Promise.all(
      ['v1/~/inputs', 'v1/~/outputs', 'v2/~/pipelines'].map(async (path) => {
        const { body } = await service.call('GET', `/${path.replace('~', acme.team)}`, { key: acme.key });
        return body.pagination.total;
      }),
    );

  const at = (path: string) => service.call('GET', path.replace('~', acme.team), { key: acme.key });

  it('creates the output, the pipeline and the edge in one request', async () => {
    const { status, body } = await post('integrations', { input_id: input, name: 'Web', description: 'd' });
    expect([status, body]).toEqual([
      201,
      {
        pipeline_id: expect.any(String),
        input_id: input,
        output_id: expect.any(String),
        status: 'Unknown',
        enabled: true,
      },
    ]);
    const pipeline = (await at(`/v2/~/pipelines/${body.pipeline_id}`)).body;
    const [from, to] = pipeline.nodes;
    expect(pipeline).toMatchObject({ name: 'Web', description: 'd', input_id: input, output_ids: [body.output_id] });
    expect(pipeline.edges).toMatchObject([
      { from_node_instance_id: from.id, to_node_instance_id: to.id, conditions: { operator: 'always' } },
    ]);
    expect((await at(`/v1/~/outputs/${body.output_id}`)).body).toMatchObject({ type: 'dev-null', name: 'Web' });
    expect((await at(`/v1/~/inputs/${input}`)).body.component_of).toMatchObject([{ id: body.pipeline_id }]);
  });

  it('uses an existing output, or creates one of any type with its secrets', async () => {
    const output = await connector('output');
    expect((await build({ output: { id: output } })).output_id).toBe(output);
    const { type, config } = exampleBody(typeOf('output', 'http'));
    const secrets = { auth_headers: { value: { 'x-key': 'of-the-archive' } } };
    const { output_id } = await build({ output: { type, config: { ...config, secrets }, name: 'Archive' } });
    const made = await service.call('GET', `/v1/${acme.team}/outputs/${output_id}`, { key: acme.key });
    expect(made.body).toMatchObject({ type: 'http', name: 'Archive' });
    expect(made.body.config.secrets.auth_headers).toHaveProperty('id');
  });

  it('creates nothing for an invalid request and returns the path of the issue', async () => {
    const before = await left();
    const refused = async (body: object, ...expected: unknown[]) => {
      const answer = await post('integrations', { input_id: input, name: 'Web', ...body });
      const [issue] = answer.body.additional_details?.issues ?? [];
      expect([answer.status, answer.body.error_type, issue?.path], answer.text).toEqual(expected);
    };
    await refused({ input_id: UNKNOWN }, 400, 'invalid_pipeline', '/input_id');
    await refused({ output: { id: UNKNOWN } }, 400, 'invalid_pipeline', '/output/id');
    await refused({ output: { id: input } }, 400, 'invalid_pipeline', '/output/id');
    await refused({ output: { type: 'no-such-type' } }, 400, 'invalid_request', '/type');
    await refused({ output: { type: 'http' } }, 400, 'invalid_config', '/settings/endpoint');
    await refused({ output: { type: 'dev-null', id: UNKNOWN } }, 400, 'invalid_request', '/output');
    await refused({ name: ' ' }, 400, 'invalid_request', '/name');
    expect(await left()).toEqual(before);
  });

  const run = (sql: string) => service.database.script((script) => script(sql));
  /** Makes writes to a table fail while `work` runs: at the statement, or at the commit. */
  async function whileFailing(table: string, when: 'at once' | 'at the end', work: () => Promise<void>): Promise<void> {
    const each =
      when === 'at once'
        ? `trigger on_fire before insert or update or delete on ${table}`
        : `constraint trigger on_fire after insert or update or delete on ${table} deferrable initially deferred`;
    await run(`create or replace function on_fire() returns trigger language plpgsql
      as $$ begin raise exception 'the disk is on fire'; end $$`);
    await run(`create ${each} for each row execute function on_fire()`);
    try {
      await work();
    } finally {
      await run(`drop trigger on_fire on ${table}`);
    }
  }
  const steps = ['connectors', 'secrets', 'pipelines', 'pipeline_components', 'idempotency_keys'].flatMap((table) =>
    (['at once', 'at the end'] as const).map((when) => [table, when] as const),
  );

  it.each(steps)('creates nothing when writing to %s fails %s, and the retry succeeds (R02)', async (table, when) => {
    const { type, config } = exampleBody(typeOf('output', 'http'));
    const secrets = { auth_headers: { value: { 'x-key': 'secret' } } };
    const body = { output: { type, config: { ...config, secrets } } };
    const headers = { 'idempotency-key': `${table} ${when}`.replaceAll(' ', '-') };
    const before = await left();
    await whileFailing(table, when, async () => {
      const failed = await post('integrations', { input_id: input, name: 'Web', ...body }, headers);
      expect([failed.status, failed.body.error_type]).toEqual([500, 'internal_error']);
      expect(failed.text).not.toContain('on fire');
      expect(await left()).toEqual(before);
    });
    // If `idempotency_keys` was the table that failed, the call could not release its key: let
    // the claim expire.
    service.clock.advance(60_001);
    await build(body, headers);
    const [inputs = 0, outputs = 0, pipelines = 0] = before;
    expect(await left()).toEqual([inputs, outputs + 1, pipelines + 1]);
  });

  it.each(steps.filter(([table]) => table !== 'secrets'))(
    'deletes nothing when writing to %s fails %s, and the retry succeeds (R02)',
    async (table, when) => {
      const built = await build();
      const headers = { 'idempotency-key': `remove-${table}-${when}`.replaceAll(' ', '-') };
      const before = await left();
      await whileFailing(table, when, async () => {
        expect((await post('integrations/delete', built, headers)).status).toBe(500);
        expect(await left()).toEqual(before);
      });
      service.clock.advance(60_001);
      expect((await post('integrations/delete', built, headers)).status).toBe(204);
      const [inputs = 0, outputs = 0, pipelines = 0] = before;
      expect(await left()).toEqual([inputs - 1, outputs - 1, pipelines - 1]);
    },
  );

  it('creates one integration for concurrent and repeated requests (R01)', async () => {
    const headers = { 'idempotency-key': 'build-1' };
    const sent = { input_id: input, name: 'Web' };
    const answers = await Promise.all([1, 2, 3].map(() => post('integrations', sent, headers)));
    const again = await post('integrations', sent, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    for (const { status, text } of answers) {
      if (status !== 409) expect([status, text]).toEqual([201, again.text]);
    }
    expect(await left()).toEqual([1, 1, 1]);
  });

  const policies: [name: string, cleanup: object | undefined, ...left: number[]][] = [
    ['everything', {}, 0, 0, 0],
    ['everything by default', undefined, 0, 0, 0],
    ['all but the output', { output: false }, 0, 1, 0],
    ['only the pipeline', { input: false, output: false }, 1, 1, 0],
    ['nothing', { pipeline: false, input: false, output: false }, 1, 1, 1],
    ['nothing that a kept pipeline uses', { pipeline: false }, 1, 1, 1],
  ];
  it.each(policies)('deletes %s, and a repeated request succeeds', async (_name, cleanup, ...expected) => {
    const { pipeline_id, input_id, output_id } = await build();
    const sent = { pipeline_id, input_id, output_id, ...(cleanup ? { cleanup } : {}) };
    for (const _ of ['once', 'again']) {
      expect(await post('integrations/delete', sent)).toMatchObject({ status: 204, text: '' });
      expect(await left()).toEqual(expected);
    }
  });

  it('repeats the response to a deletion with the same Idempotency-Key (R01)', async () => {
    const { pipeline_id, input_id, output_id } = await build();
    const headers = { 'idempotency-key': 'remove-1' };
    const remove = () => post('integrations/delete', { pipeline_id, input_id, output_id }, headers);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
    expect((await remove()).headers.get('idempotency-replayed')).toBe('true');
  });

  it('keeps an output that another pipeline uses', async () => {
    const one = await build();
    const two = await build({ input_id: await connector('input'), output: { id: one.output_id } });
    expect((await post('integrations/delete', one)).status).toBe(204);
    expect(await left()).toEqual([1, 1, 1]);
    expect((await post('integrations/delete', two)).status).toBe(204);
    expect(await left()).toEqual([0, 0, 0]);
  });

  it('ignores missing IDs and IDs of the wrong kind', async () => {
    const { pipeline_id, input_id, output_id } = await build();
    const swapped = { pipeline_id, input_id: output_id, output_id: input_id };
    expect((await post('integrations/delete', swapped)).status).toBe(204);
    expect(await left()).toEqual([1, 1, 0]);
    expect((await post('integrations/delete', {})).status).toBe(204);
    expect(await left()).toEqual([1, 1, 0]);
  });

  it('deletes nothing of another organization', async () => {
    const { pipeline_id, input_id, output_id } = await build();
    const mine = acme;
    acme = await service.tenant(`Other ${tenants}`);
    expect((await post('integrations/delete', { pipeline_id, input_id, output_id })).status).toBe(204);
    acme = mine;
    expect(await left()).toEqual([1, 1, 1]);
  });

  it('leaves no partial integration after concurrent builds and deletions', async () => {
    for (let round = 0; round < 8; round += 1) {
      const one = await build({ input_id: await connector('input') });
      const before = await left();
      const other = await connector('input');
      const [made, ...removed] = await Promise.all([
        post('integrations', { input_id: other, name: 'Two', output: { id: one.output_id } }),
        post('integrations/delete', one),
        post('integrations/delete', { input_id: other, output_id: one.output_id }),
      ]);
      expect(removed.map(({ status }) => status)).toEqual([204, 204]);
      const counts = await left();
      // If it was built, both its connectors still exist. If it was rejected, a connector had been
      // removed before, and nothing was created.
      if (made.status === 201) {
        const pipeline = await service.call('GET', `/v2/${acme.team}/pipelines/${made.body.pipeline_id}`, {
          key: acme.key,
        });
        expect(pipeline.body).toMatchObject({ input_id: other, output_ids: [one.output_id] });
        for (const end of [`inputs/${other}`, `outputs/${one.output_id}`]) {
          expect((await service.call('GET', `/v1/${acme.team}/${end}`, { key: acme.key })).status).toBe(200);
        }
        expect(counts[2]).toBe(before[2]);
      } else {
        expect(made.status).toBe(400);
        expect(counts[2]).toBe((before[2] ?? 0) - 1);
      }
    }
  });
});
