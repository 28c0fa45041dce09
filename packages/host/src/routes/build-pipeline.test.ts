import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakePipelines, fetchOf } from '../../../../test/support/fake-pipelines.js';
import { outcome, post, startHost } from '../../../../test/support/start-host.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(() => hosts.close());

const build = (body: object) => post('/api/build-pipeline', { tenantId: 'acme', inputName: 'Web', ...body });

describe.each([true, false])('with the integrations endpoint: %s', (integrations) => {
  test('builds the pipeline and returns it', async () => {
    const fake = fakePipelines({ integrations });
    const host = hosts.create({ fetch: fetchOf(fake, 'org-acme') });
    const answer = await host(build({ inputId: fake.addInput().inputId }));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await answer.json()).toEqual({
      pipelineId: [...fake.pipelines.keys()][0],
      outputId: [...fake.outputs.keys()][0],
      status: 'Running',
      active: true,
    });
  });

  test('on failure, leaves nothing behind, hides the upstream message and reports it to onError', async () => {
    const fake = fakePipelines({ integrations });
    const { inputId } = fake.addInput();
    const last = `POST /v2/org-1/${integrations ? 'integrations' : 'pipelines'}`;
    fake.fail = (_, { method, path }) => (`${method} ${path}` === last ? 500 : undefined);
    const answer = await hosts.create({ fetch: fetchOf(fake, 'org-acme') })(build({ inputId }));
    expect(await answer.clone().text()).not.toContain('canary');
    expect(await outcome(Promise.resolve(answer))).toEqual([502, 'upstream_error']);
    expect([fake.outputs.size, fake.pipelines.size]).toEqual([0, 0]);
    expect(hosts.onError).toHaveBeenCalledOnce();
  });
});

test('names an output that it could not delete only in the error for onError', async () => {
  const fake = fakePipelines();
  const { inputId } = fake.addInput();
  fake.fail = (_, { method }) => (method === 'DELETE' || fake.asked.length === 4 ? 400 : undefined);
  const answer = await hosts.create({ fetch: fetchOf(fake, 'org-acme') })(build({ inputId }));
  expect(await answer.clone().text()).not.toContain('outputs-');
  expect(await outcome(Promise.resolve(answer))).toEqual([400, 'invalid_request']);
  expect(hosts.onError.mock.calls[0]?.[0]).toMatchObject({ created: { outputId: [...fake.outputs.keys()][0] } });
});

test('returns 404 for the input of another tenant and builds nothing', async () => {
  const fake = fakePipelines({ integrations: true });
  const { inputId } = fake.addInput();
  const host = hosts.create({ fetch: fetchOf(fake, 'org-globex') });
  expect(await outcome(host(build({ inputId })))).toEqual([404, 'not_found']);
  expect(await outcome(host(build({ inputId: 'inputs-99' })))).toEqual([404, 'not_found']);
  expect(await outcome(host(build({ inputId, tenantId: 'globex' })))).toEqual([403, 'forbidden']);
  expect([fake.pipelines.size, fake.asked.length]).toEqual([0, 0]);
});

test('builds pipelines only for inputs of an allowed type', async () => {
  for (const [allow, status] of [
    [{ input: ['monad-http'] }, 200],
    [{ input: ['okta-systemlog'] }, 403],
    [{ output: ['monad-http'] }, 403],
  ] as const) {
    const fake = fakePipelines({ integrations: true });
    const host = hosts.create({ allow, fetch: fetchOf(fake, 'org-acme') });
    expect((await host(build({ inputId: fake.addInput().inputId }))).status).toBe(status);
    expect(fake.pipelines.size).toBe(status === 200 ? 1 : 0);
  }
});

describe('with an existing output of the tenant', () => {
  test('builds the pipeline in one request and waits until it runs', async () => {
    const fake = fakePipelines({ integrations: true, statuses: ['Pending', 'Initializing', 'Running'] });
    const { inputId } = fake.addInput();
    const outputId = fake.addOutput();
    const answer = await hosts.create({ fetch: fetchOf(fake, 'org-acme') })(build({ inputId, outputId }));
    const [pipelineId] = fake.pipelines.keys();
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { pipelineId, outputId, status: 'Running', active: true },
    ]);
    expect(fake.outputs.size).toBe(1);
    const writes = fake.asked.filter(({ method }) => method !== 'GET');
    expect(writes.map(({ path }) => path)).toEqual(['/v2/org-1/integrations']);
    expect(writes[0]?.body).toEqual({ input_id: inputId, name: 'Web', output: { id: outputId } });
    expect(writes[0]?.headers.get('idempotency-key')).toMatch(/^[\w-]{20,}$/);
  });

  test('returns the status of a failing pipeline', async () => {
    const fake = fakePipelines({ integrations: true, statuses: ['Erroring'] });
    const ids = { inputId: fake.addInput().inputId, outputId: fake.addOutput() };
    const answer = await hosts.create({ fetch: fetchOf(fake, 'org-acme') })(build(ids));
    expect(await answer.json()).toMatchObject({ status: 'Erroring', active: false });
  });

  test('returns 404 for the output of another tenant and writes nothing', async () => {
    const [fake, others] = [fakePipelines({ integrations: true }), fakePipelines()];
    const { inputId } = fake.addInput();
    others.addInput();
    const outputId = others.addOutput();
    const [acme, globex] = [fetchOf(fake, 'org-acme'), fetchOf(others, 'org-globex')];
    const host = hosts.create({
      fetch: (input, init) => (JSON.stringify(input).includes('org-acme') ? acme : globex)(input, init),
    });
    expect(await outcome(host(build({ inputId, outputId })))).toEqual([404, 'not_found']);
    expect(fake.asked.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect([fake.pipelines.size, others.asked.length]).toEqual([0, 0]);
  });

  test('builds pipelines only to outputs of an allowed type', async () => {
    for (const [output, status] of [
      [['splunk'], 200],
      [['http'], 403],
      [undefined, 403],
    ] as const) {
      const fake = fakePipelines({ integrations: true });
      const ids = { inputId: fake.addInput().inputId, outputId: fake.addOutput() };
      const allow = { input: ['monad-http'], ...(output && { output }) };
      const host = hosts.create({ allow, fetch: fetchOf(fake, 'org-acme') });
      expect((await host(build(ids))).status).toBe(status);
      expect(fake.pipelines.size).toBe(status === 200 ? 1 : 0);
    }
  });
});

test.each([
  {},
  { inputId: 7 },
  { inputId: '' },
  { inputId: '..' },
  { inputId: 'a/b' },
  { inputId: 'a', inputName: ' ' },
  { inputId: 'a', outputId: '' },
  { inputId: 'a', outputId: null },
  { inputId: 'a', outputId: '../b' },
])('rejects %j', async (body) => {
  expect(await outcome(hosts.create()(build(body)))).toEqual([400, 'invalid_request']);
  expect(hosts.seen).toEqual([]);
});
