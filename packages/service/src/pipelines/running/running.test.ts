import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectors } from '@connector-frame/connectors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allTypes, exampleBody, typeOf } from '../../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../../test/support/service.js';
import { startVendor } from '../../../../../test/support/vendor.js';

const lines = (count: number, from = 0) => Array.from({ length: count }, (_, n) => JSON.stringify({ n: from + n }));

const settings = (endpoint: string) => ({ endpoint, method: 'POST', payload_structure: 'array' });

describe.each(eachDatabase())('the engine on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engine-'));
    service = await createTestService({
      database: await databases.open(),
      egressAllow: ['127.0.0.1/32'],
      run: { folder, limits: { grace: 500 } },
    });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = (method: string, path: string, body?: unknown) =>
    service.call(method, path.replace('~', acme.team), { key: acme.key, ...(body === undefined ? {} : { body }) });
  async function make(kind: 'inputs' | 'outputs', body: { type: string; config?: object }): Promise<string> {
    const answer = await send('POST', `/v2/~/${kind}`, { name: body.type, config: { settings: {} }, ...body });
    if (typeof answer.body.id !== 'string') throw new Error(answer.text);
    return answer.body.id;
  }
  async function build(input: string, output?: object): Promise<{ id: string; output: string }> {
    const body = { input_id: input, name: 'P', ...(output && { output }) };
    const answer = await send('POST', '/v2/~/integrations', body);
    if (typeof answer.body.pipeline_id !== 'string') throw new Error(answer.text);
    return { id: answer.body.pipeline_id, output: answer.body.output_id };
  }
  const append = (input: string, records: readonly string[]) => service.engine?.append(input, records);
  const status = async (id: string) => (await send('GET', `/v2/~/pipelines/${id}/status`)).body;
  const until = (id: string, wanted: object) => expect.poll(() => status(id)).toMatchObject(wanted);
  const codes = async (id: string): Promise<string[]> =>
    (await send('GET', `/v2/~/pipelines/${id}/logs`)).body.entries.map(({ code }: { code: string }) => code);
  /** Returns the state and files of a pipeline, apart from its row. */
  const remains = async (id: string) => [
    ...(await service.database.script((run) => run(`select key from engine_state where key like '%${id}%'`))),
    ...(await readdir(folder, { recursive: true })).filter((name) => name.includes(id)),
  ];

  it('counts the records from the demo input to dev-null', async () => {
    const { id } = await build(await make('inputs', { type: 'demo' }));
    await until(id, { status: 'Running' });
    await expect.poll(async () => (await status(id)).egress.records).toBeGreaterThan(0);
    expect(await codes(id)).toContain('started');
  });

  it('buffers pushed records of a paused pipeline and delivers them when it resumes', async () => {
    const input = await make('inputs', { type: 'monad-http' });
    expect(await append(input, lines(1))).toEqual({ stored: false, reason: 'no_pipeline' });
    const { id } = await build(input);
    // Succeeds immediately: the sender does not have to wait until the pipeline runs.
    expect(await append(input, lines(1_000))).toEqual({ stored: true, tooLarge: [] });
    await until(id, { status: 'Running', ingress: { records: 1_000 }, egress: { records: 1_000 }, waiting: 0 });
    await send('PATCH', `/v1/~/pipelines/${id}`, { enabled: false });
    await until(id, { status: 'Disabled' });
    expect(await append(input, lines(500, 1_000))).toMatchObject({ stored: true });
    await until(id, { status: 'Disabled', ingress: { records: 1_500 }, egress: { records: 1_000 }, waiting: 500 });
    await send('PATCH', `/v1/~/pipelines/${id}`, { enabled: true });
    await until(id, { status: 'Running', egress: { records: 1_500 }, waiting: 0 });
  });

  it('reads a polled input on request, and rejects the request for others', async () => {
    const { id } = await build(await make('inputs', { type: 'demo' }));
    await until(id, { status: 'Running' });
    const triggered = await send('POST', `/v2/~/pipelines/${id}/trigger`);
    expect([triggered.status, triggered.body]).toEqual([200, 'The input is read now.']);
    await send('PATCH', `/v1/~/pipelines/${id}`, { enabled: false });
    expect((await send('POST', `/v2/~/pipelines/${id}/trigger`)).body.error).toMatch('paused');
    const pushed = await build(await make('inputs', { type: 'monad-http' }));
    await until(pushed.id, { status: 'Running' });
    const refused = await send('POST', `/v2/~/pipelines/${pushed.id}/trigger`);
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('not polled')]);
  });

  it('deletes the state and files of a deleted pipeline and of the pipelines of a deleted organization', async () => {
    const input = await make('inputs', { type: 'monad-http' });
    const { id } = await build(input);
    await append(input, lines(10));
    await expect.poll(() => remains(id)).not.toEqual([]);
    await send('DELETE', `/v2/~/pipelines/${id}`);
    await expect.poll(() => append(input, lines(1))).toEqual({ stored: false, reason: 'no_pipeline' });
    await expect.poll(() => remains(id)).toEqual([]);

    const { body: team } = await send('POST', `/v3/${acme.id}/organizations`, { name: 'Gone soon' });
    const key = { key: acme.key };
    const made = await service.call('POST', `/v2/${team.id}/inputs`, {
      ...key,
      body: { name: 'In', type: 'monad-http', config: {} },
    });
    const built = await service.call('POST', `/v2/${team.id}/integrations`, {
      ...key,
      body: { input_id: made.body.id, name: 'P' },
    });
    expect(await append(made.body.id, lines(5))).toMatchObject({ stored: true });
    await service.call('DELETE', `/v3/${acme.id}/organizations/${team.id}`, key);
    await expect.poll(() => remains(built.body.pipeline_id)).toEqual([]);
    expect(await append(made.body.id, lines(1))).toEqual({ stored: false, reason: 'no_pipeline' });
  });

  it('reports why a pipeline cannot run, and runs the others', async () => {
    const still = allTypes().find((type) => type.kind === 'input' && !connectors(type).createInput);
    if (!still) throw new Error('Every type runs.');
    const without = await build(await make('inputs', exampleBody(still)));
    await until(without.id, { status: 'Erroring', last_error: { code: 'no_runtime' } });

    const input = await make('inputs', { type: 'monad-http' });
    const bad = await build(input, exampleBody(typeOf('output', 'splunk')));
    await service.database.script((run) =>
      run(`update secrets set sealed = '\\x00' where connector_id = '${bad.output}'`),
    );
    await send('PATCH', `/v2/~/outputs/${bad.output}`, { description: 'touched' });
    await until(bad.id, { status: 'Erroring', last_error: { code: 'secret_unreadable' } });
    // Records wait in the buffer until the secret is entered again.
    expect(await append(input, lines(3))).toMatchObject({ stored: true });
    await until(bad.id, { waiting: 3 });

    const nothing = (await send('POST', '/v2/~/pipelines', { name: 'Empty' })).body.id;
    await until(nothing, { status: 'Erroring', last_error: { code: 'incomplete' } });
    const good = await build(await make('inputs', { type: 'demo' }));
    await until(good.id, { status: 'Running' });
  });

  it('applies new settings of a connector without losing records, counts or log entries', async () => {
    const [before, after] = [await startVendor(() => ({})), await startVendor(() => ({}))];
    const input = await make('inputs', { type: 'monad-http' });
    const { id, output } = await build(input, { type: 'http', config: { settings: settings(before.origin) } });
    await append(input, lines(20));
    await until(id, { status: 'Running', egress: { records: 20 } });
    const edit = send('PATCH', `/v2/~/outputs/${output}`, { config: { settings: settings(after.origin) } });
    // Records sent while the runner is recreated are stored, as acknowledged.
    const during = await Promise.all(lines(30, 20).map(async (line) => append(input, [line])));
    expect(during).toEqual(during.map(() => ({ stored: true, tooLarge: [] })));
    await edit;
    await expect.poll(() => codes(id)).toContain('changed');
    await until(id, { status: 'Running' });
    await append(input, lines(10, 50));
    await until(id, { ingress: { records: 60 }, egress: { records: 60 } });
    const sent = (vendor: typeof after): number[] =>
      vendor.requests
        .filter(({ method }) => method === 'POST')
        .flatMap(({ body }): { n: number }[] => JSON.parse(body))
        .map(({ n }) => n);
    expect([...sent(before), ...sent(after)].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
    expect(sent(after)).toEqual(expect.arrayContaining([50, 59]));
    expect(await codes(id)).toEqual(expect.arrayContaining(['started', 'changed', 'stopped']));
    await Promise.all([before.close(), after.close()]);
  });

  it('delivers records to every pipeline of an input and returns the metrics of each', async () => {
    const input = await make('inputs', { type: 'monad-http' });
    const [one, other] = [await build(input), await build(input)];
    expect(await append(input, lines(7))).toMatchObject({ stored: true });
    for (const { id } of [one, other]) {
      await until(id, { egress: { records: 7 } });
      const { body } = await send('GET', `/v2/~/pipelines/${id}/metrics`);
      expect(body).toMatchObject({ pipeline_id: id, interval_seconds: 10 });
    }
  });

  it('limits an organization to 50 open log streams and releases closed ones', async () => {
    const { id } = await build(await make('inputs', { type: 'monad-http' }));
    const follow = async () =>
      service.app.request(`/v2/${acme.team}/pipelines/${id}/logs/stream`, { headers: { 'x-api-key': acme.key } });
    const open = await Promise.all(Array.from({ length: 50 }, follow));
    expect(new Set(open.map(({ status: code }) => code))).toEqual(new Set([200]));
    const refused = await follow();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    for (const { body } of open) await body?.cancel();
    const again = async () => {
      const { body, status: code } = await follow();
      await body?.cancel();
      return code;
    };
    await expect.poll(again).toBe(200);
  });

  it('opens no log stream for a HEAD request', async () => {
    const { id } = await build(await make('inputs', { type: 'monad-http' }));
    const path = `/v2/${acme.team}/pipelines/${id}/logs/stream`;
    const ask = (method: string) => service.app.request(path, { method, headers: { 'x-api-key': acme.key } });
    for (let n = 0; n < 60; n += 1) {
      const { status: code, headers } = await ask('HEAD');
      expect([code, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    }
    const stream = await ask('GET');
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });

  it('ends a log stream when its API key is revoked', async () => {
    const { id } = await build(await make('inputs', { type: 'monad-http' }));
    await until(id, { status: 'Running' });
    const { body: key } = await service.call('POST', `/v3/${acme.team}/api-keys`, {
      key: acme.key,
      body: { name: 'For a while', permissions: ['read'] },
    });
    const path = `/v2/${acme.team}/pipelines/${id}/logs/stream`;
    const { body } = await service.app.request(path, { headers: { 'x-api-key': key.key } });
    let told = '';
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) told += decoder.decode(chunk);
    };
    const over = read();
    await expect.poll(() => told).toContain('started');
    await service.call('DELETE', `/v3/${acme.team}/api-keys/${key.id}`, { key: acme.key });
    await send('PATCH', `/v1/~/pipelines/${id}`, { enabled: false });
    await over;
    expect(told).not.toContain('pausing');
  });

  it('deletes the state of a pipeline whose input type no longer exists', async () => {
    const input = await make('inputs', { type: 'monad-http' });
    const { id } = await build(input, exampleBody(typeOf('output', 'splunk')));
    expect(await append(input, lines(10))).toMatchObject({ stored: true });
    await service.database.script((run) => run(`update connectors set type = 'gone' where id = '${input}'`));
    await send('PATCH', `/v2/~/inputs/${input}`, { description: 'touched' });
    await until(id, { status: 'Erroring', last_error: { code: 'no_runtime' } });
    await send('DELETE', `/v2/~/pipelines/${id}`);
    await expect.poll(() => remains(id)).toEqual([]);
  });

  it('collects metrics by status, not by pipeline', async () => {
    const figures = service.engine?.collectMetrics();
    expect(figures?.statuses.get('Running')).toBeGreaterThan(2);
    expect([...(figures?.statuses.keys() ?? [])].length).toBeLessThanOrEqual(7);
  });
});
