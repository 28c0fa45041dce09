import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakePipelines, fetchOf, type FakePipelines } from '../../../../test/support/fake-pipelines.js';
import { get, outcome, post, startHost } from '../../../../test/support/start-host.js';
import type { HostOptions } from '../host-options.js';

let hosts: Awaited<ReturnType<typeof startHost>>;
let fake: FakePipelines;

beforeEach(async () => {
  hosts = await startHost();
  fake = fakePipelines({ integrations: true });
});
afterEach(() => hosts.close());

const create = (options: Partial<HostOptions> = {}) =>
  hosts.create({ routes: 'separate', fetch: fetchOf(fake, 'org-acme'), ...options });
const write = (path: string, fields: object) => post(`/api/${path}`, { tenantId: 'acme', ...fields });
const read = (inputId: string, tenantId = 'acme') => get(`/api/status?tenantId=${tenantId}&inputId=${inputId}`);
const json = async (answer: Promise<Response>): Promise<unknown> => (await answer).json();
const writes = () => fake.asked.filter(({ method }) => method !== 'GET');

const requests = (inputId: string, tenantId: string) => [
  write('ingress', { inputId, inputName: 'Web', tenantId }),
  write('egress', { inputId, inputName: 'Web', outputId: 'outputs-2', tenantId }),
  read(inputId, tenantId),
  write('state', { inputId, enabled: false, tenantId }),
  write('remove', { inputId, tenantId }),
];

test('a host has exactly nine routes', () => {
  const host = create();
  const paths = ['monad/config', 'session', 'catalog', 'connectors', 'ingress', 'egress', 'status', 'state', 'remove'];
  expect(paths.filter((path) => !host.matches(`/api/${path}`))).toEqual([]);
  for (const path of ['build-pipeline', 'integration-action', 'team']) expect(host.matches(`/api/${path}`)).toBe(false);
  const combined = hosts.create();
  for (const path of paths.slice(4)) expect(combined.matches(`/api/${path}`)).toBe(false);
});

describe('ingress', () => {
  test('builds a pipeline that discards the records, and returns it again when repeated', async () => {
    const { inputId } = fake.addInput();
    const ingress = () => create()(write('ingress', { inputId, inputName: 'Web' }));
    const first = await ingress();
    const built = await first.json();
    const [pipelineId] = fake.pipelines.keys();
    const [outputId] = fake.outputs.keys();
    expect([first.status, built]).toEqual([200, { pipelineId, outputId, status: 'Running', active: true }]);
    expect(await json(ingress())).toEqual(built);
    expect([fake.pipelines.size, fake.outputs.size]).toEqual([1, 1]);
  });
});

describe('egress', () => {
  test('builds a pipeline to the output of the tenant, and returns it again when repeated', async () => {
    const { inputId } = fake.addInput();
    const outputId = fake.addOutput();
    const egress = () => create()(write('egress', { inputId, inputName: 'Web', outputId }));
    const built = await json(egress());
    expect(built).toMatchObject({ pipelineId: [...fake.pipelines.keys()][0], outputId, active: true });
    expect(await json(egress())).toEqual(built);
    expect([fake.pipelines.size, fake.outputs.size]).toEqual([1, 1]);
  });

  test('returns 409 if the input has a pipeline to another output, and changes nothing', async () => {
    const { inputId } = fake.addInput(true);
    const outputId = fake.addOutput();
    const answer = create()(write('egress', { inputId, inputName: 'Web', outputId }));
    expect(await outcome(answer)).toEqual([409, 'conflict']);
    expect(writes()).toEqual([]);
  });

  test('requires an output that the tenant has', async () => {
    const { inputId } = fake.addInput();
    const host = create();
    expect(await outcome(host(write('egress', { inputId, inputName: 'Web' })))).toEqual([400, 'invalid_request']);
    const unknown = host(write('egress', { inputId, inputName: 'Web', outputId: 'outputs-9' }));
    expect(await outcome(unknown)).toEqual([404, 'not_found']);
    expect(writes()).toEqual([]);
  });
});

test('state pauses and resumes, and status reads, an integration', async () => {
  fake.can.statuses = ['Running', 'Disabled', 'Initializing', 'Running'];
  const { inputId, ...ids } = fake.addInput(true);
  const host = create();
  expect(await json(host(read(inputId)))).toEqual({ hasPipeline: true, enabled: true, status: 'Running', ...ids });
  for (const [enabled, status] of [
    [false, 'Disabled'],
    [true, 'Initializing'],
  ] as const) {
    const answer = await json(host(write('state', { inputId, enabled })));
    expect(answer).toEqual({ hasPipeline: true, enabled, status, ...ids });
    expect(fake.pipelines.get(ids.pipelineId ?? '')).toMatchObject({ enabled });
  }
  expect(await json(host(read(inputId)))).toMatchObject({ enabled: true, status: 'Running' });
});

test('an input without a pipeline has no state', async () => {
  const { inputId } = fake.addInput();
  const none = { hasPipeline: false, enabled: false };
  expect(await json(create()(read(inputId)))).toEqual(none);
  expect(await json(create()(write('state', { inputId, enabled: true })))).toEqual(none);
  expect(writes()).toEqual([]);
});

test('remove deletes what the option cleanup permits, also when repeated', async () => {
  const host = create({ cleanup: ['pipeline-only', 'full'] });
  const { inputId } = fake.addInput(true);
  const left = () => [fake.pipelines.size, fake.inputs.size, fake.outputs.size];
  expect(await outcome(host(write('remove', { inputId, cleanup: 'keep-output' })))).toEqual([403, 'forbidden']);
  expect(left()).toEqual([1, 1, 1]);
  for (const [cleanup, expected] of [
    [undefined, [0, 1, 1]],
    ['full', [0, 0, 1]],
    ['full', [0, 0, 1]],
  ] as const) {
    expect((await host(write('remove', { inputId, cleanup }))).status).toBe(204);
    expect(left()).toEqual(expected);
  }
});

describe('every route for a pipeline', () => {
  test('refuses another tenant before the service is called', async () => {
    const { inputId } = fake.addInput(true);
    for (const request of requests(inputId, 'globex')) {
      expect(await outcome(create()(request))).toEqual([403, 'forbidden']);
    }
    expect(fake.asked).toEqual([]);
  });

  test('refuses an input of a type that is not offered', async () => {
    const { inputId } = fake.addInput(true);
    for (const request of requests(inputId, 'acme')) {
      expect(await outcome(create({ allow: { input: ['okta-systemlog'] } })(request))).toEqual([403, 'forbidden']);
    }
    expect(writes()).toEqual([]);
  });

  test('does not know the input of another team; remove succeeds', async () => {
    const host = create({ fetch: fetchOf(fake, 'org-globex') });
    const { inputId } = fake.addInput(true);
    const statuses: number[] = [];
    for (const request of requests(inputId, 'acme')) statuses.push((await host(request)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 204]);
    expect([fake.pipelines.size, fake.inputs.size]).toEqual([1, 1]);
  });

  test('refuses a write from another site (S24)', async () => {
    const { inputId } = fake.addInput(true);
    for (const request of requests(inputId, 'acme').filter(({ method }) => method === 'POST')) {
      request.headers.set('sec-fetch-site', 'cross-site');
      expect(await outcome(create()(request))).toEqual([403, 'forbidden']);
    }
    expect(fake.asked).toEqual([]);
  });

  test('rejects malformed fields', async () => {
    const host = create();
    for (const request of [
      write('state', { inputId: 'a' }),
      write('state', { inputId: 'a', enabled: 'true' }),
      write('ingress', { inputId: 'a' }),
      write('ingress', { inputId: '..', inputName: 'Web' }),
      write('egress', { inputId: 'a', inputName: 'Web', outputId: '../b' }),
      write('remove', { inputId: 'a', cleanup: 'all' }),
      read('..'),
      get('/api/status?tenantId=acme'),
      get('/api/status?inputId=a'),
    ]) {
      expect(await outcome(host(request))).toEqual([400, 'invalid_request']);
    }
    expect(fake.asked).toEqual([]);
  });
});
