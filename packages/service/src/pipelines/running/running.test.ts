import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embedded, postgresql } from '../../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../../test/support/service.js';

const lines = (count: number, from = 0) => Array.from({ length: count }, (_, n) => JSON.stringify({ n: from + n }));

describe.each([embedded(), postgresql()])('pipelines that run on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open(), run: {} });
    acme = await service.tenant('Northwind');
  }, 60_000);
  afterAll(async () => {
    await service.close();
    await databases.close();
  });

  const send = (method: string, path: string, body?: unknown) =>
    service.call(method, path.replace('~', acme.team), { key: acme.key, ...(body === undefined ? {} : { body }) });
  const make = async (kind: 'inputs' | 'outputs', type: string, settings: object = {}, secrets: object = {}) => {
    const { body, text } = await send('POST', `/v2/~/${kind}`, { name: type, type, config: { settings, secrets } });
    if (!body.id) throw new Error(text);
    return String(body.id);
  };
  const build = async (input: string, output?: object) => {
    const { body, text } = await send('POST', '/v2/~/integrations', {
      input_id: input,
      name: 'P',
      ...(output && { output }),
    });
    if (!body.pipeline_id) throw new Error(text);
    return { id: String(body.pipeline_id), output: String(body.output_id) };
  };
  const status = async (id: string) => (await send('GET', `/v2/~/pipelines/${id}/status`)).body;
  const until = (id: string, wanted: object) =>
    expect.poll(() => status(id), { timeout: 20_000 }).toMatchObject(wanted);
  const codes = async (id: string) =>
    (await send('GET', `/v2/~/pipelines/${id}/logs`)).body.entries.map(({ code }: { code: string }) => code);

  it('counts what comes from made-up records to dev-null', async () => {
    const { id } = await build(await make('inputs', 'demo'));
    await until(id, { status: 'Running' });
    await expect.poll(async () => (await status(id)).egress.records, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(await codes(id)).toContain('started');
  });

  it('takes pushed records in, keeps them while it is paused, and delivers them when it goes on', async () => {
    const input = await make('inputs', 'monad-http');
    expect(await service.engine?.append(input, lines(1))).toEqual({ stored: false, reason: 'no_pipeline' });
    const { id } = await build(input);
    // At once: nobody has to wait until it was seen to run.
    expect(await service.engine?.append(input, lines(1_000))).toEqual({ stored: true, tooLarge: [] });
    await until(id, { status: 'Running', ingress: { records: 1_000 }, egress: { records: 1_000 }, waiting: 0 });
    await send('PATCH', `/v1/~/pipelines/${id}`, { enabled: false });
    await until(id, { status: 'Disabled' });
    expect(await service.engine?.append(input, lines(500, 1_000))).toMatchObject({ stored: true });
    await until(id, { status: 'Disabled', ingress: { records: 1_500 }, egress: { records: 1_000 }, waiting: 500 });
    await send('PATCH', `/v1/~/pipelines/${id}`, { enabled: true });
    await until(id, { status: 'Running', egress: { records: 1_500 }, waiting: 0 });
    await send('DELETE', `/v2/~/pipelines/${id}`);
    await expect.poll(() => service.engine?.append(input, lines(1))).toEqual({ stored: false, reason: 'no_pipeline' });
    const rows = await service.database.script((run) => run(`select key from engine_state where key like '%${id}%'`));
    await expect.poll(() => rows).toEqual([]);
  });
});
