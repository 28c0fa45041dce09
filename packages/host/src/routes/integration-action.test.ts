import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakePipelines, fetchOf, type FakePipelines } from '../../../../test/support/fake-pipelines.js';
import { outcome, post, startHost } from '../../../../test/support/start-host.js';
import type { HostOptions } from '../host-options.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(() => hosts.close());

const act = (action: string, inputId: unknown, more: object = {}) =>
  post('/api/integration-action', { tenantId: 'acme', action, inputId, ...more });
const hostOf = (fake: FakePipelines, options: Partial<HostOptions> = {}) =>
  hosts.create({ fetch: fetchOf(fake, 'org-acme'), ...options });
const left = (fake: FakePipelines) => [fake.pipelines.size, fake.inputs.size, fake.outputs.size];

const actions = ['status', 'pause', 'resume', 'delete'];

describe.each([true, false])('with the integrations endpoint: %s', (integrations) => {
  test('performs status, pause and resume, and returns the new state', async () => {
    const fake = fakePipelines({ integrations, statuses: ['Running', 'Disabled', 'Initializing'] });
    const { inputId, ...ids } = fake.addInput(true);
    const host = hostOf(fake);
    for (const [action, enabled, status] of [
      ['status', true, 'Running'],
      ['pause', false, 'Disabled'],
      ['resume', true, 'Initializing'],
    ] as const) {
      const answer = await host(act(action, inputId));
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(await answer.json()).toEqual({ hasPipeline: true, enabled, status, ...ids });
      expect(fake.pipelines.get(ids.pipelineId ?? '')).toMatchObject({ enabled });
    }
  });

  test('returns 204 without a body for delete, also when repeated', async () => {
    const fake = fakePipelines({ integrations });
    const { inputId } = fake.addInput(true);
    for (const _ of ['once', 'again']) {
      const answer = await hostOf(fake)(act('delete', inputId));
      expect([answer.status, await answer.text()]).toEqual([204, '']);
      expect(left(fake)).toEqual([0, 0, 0]);
    }
  });

  test('returns hasPipeline: false for an input without a pipeline, and deletes it', async () => {
    const fake = fakePipelines({ integrations });
    const { inputId } = fake.addInput();
    for (const action of ['status', 'pause', 'resume']) {
      expect(await (await hostOf(fake)(act(action, inputId))).json()).toEqual({ hasPipeline: false, enabled: false });
    }
    expect((await hostOf(fake)(act('delete', inputId))).status).toBe(204);
    expect(left(fake)).toEqual([0, 0, 0]);
  });
});

test('sends one request for the input, one for the action and one for the status', async () => {
  for (const [action, requests] of [
    ['status', 2],
    ['pause', 3],
    ['resume', 3],
    ['delete', 2],
  ] as const) {
    const fake = fakePipelines({ integrations: true });
    for (let i = 0; i < 200; i += 1) fake.addInput(true);
    await hostOf(fake)(act(action, fake.addInput(true).inputId));
    expect(fake.asked.length, action).toBe(requests);
  }
});

const choices: [allowed: HostOptions['cleanup'], wish: string | undefined, left: number[] | [number, string]][] = [
  [undefined, undefined, [0, 0, 0]],
  [undefined, 'full', [0, 0, 0]],
  [undefined, 'keep-output', [403, 'forbidden']],
  ['keep-output', undefined, [0, 0, 1]],
  ['keep-output', 'full', [403, 'forbidden']],
  [['pipeline-only', 'full'], undefined, [0, 1, 1]],
  [['pipeline-only', 'full'], 'full', [0, 0, 0]],
  [['pipeline-only', 'full'], 'toString', [400, 'invalid_request']],
];
test.each(choices)(
  'applies the cleanup policy if the host allows %j and the page requests %j',
  async (allowed, cleanup, expected) => {
    const fake = fakePipelines({ integrations: true });
    const { inputId } = fake.addInput(true);
    const answer = hostOf(fake, allowed && { cleanup: allowed })(act('delete', inputId, { cleanup }));
    if (expected.length === 2) expect(await outcome(answer)).toEqual(expected);
    expect((await answer).ok ? left(fake) : expected).toEqual(expected);
    expect((await answer).ok || fake.asked.length === 0).toBe(true);
  },
);

test.each([[['everything']], [[]], ['toString'], [7]])('createHost rejects cleanup: %j', (cleanup) => {
  const options: object = { cleanup };
  expect(() => hosts.create(options)).toThrow(/^createHost: cleanup /);
});

test('handles the input of another tenant like an unknown one and changes nothing', async () => {
  const fake = fakePipelines({ integrations: true });
  const { inputId } = fake.addInput(true);
  const host = hosts.create({ fetch: fetchOf(fake, 'org-globex') });
  for (const action of actions) {
    const mine = await host(act(action, inputId));
    const unknown = await host(act(action, 'inputs-99'));
    expect([mine.status, await mine.text()]).toEqual([unknown.status, await unknown.text()]);
    expect(mine.status).toBe(action === 'delete' ? 204 : 404);
    expect(await outcome(host(act(action, inputId, { tenantId: 'globex' })))).toEqual([403, 'forbidden']);
  }
  expect([left(fake), fake.asked.length]).toEqual([[1, 1, 1], 0]);
});

test('returns 403 for an input of a type that is not allowed and changes nothing', async () => {
  const fake = fakePipelines({ integrations: true });
  const { inputId } = fake.addInput(true);
  for (const action of actions) {
    const host = hostOf(fake, { allow: { input: ['okta-systemlog'] } });
    expect(await outcome(host(act(action, inputId)))).toEqual([403, 'forbidden']);
  }
  expect(left(fake)).toEqual([1, 1, 1]);
  expect(fake.asked.every(({ method }) => method === 'GET')).toBe(true);
});

test('reports no failure as "no pipeline" and never returns the error body of the service (R03)', async () => {
  const answers: Record<number, [number, string]> = {
    403: [502, 'upstream_error'],
    409: [409, 'conflict'],
    500: [502, 'upstream_error'],
  };
  for (const componentOf of [true, false]) {
    for (const action of actions) {
      const calm = fakePipelines({ componentOf });
      await hostOf(calm)(act(action, calm.addInput(true).inputId));
      for (let bad = 0; bad < calm.asked.length; bad += 1) {
        for (const [failure, expected] of Object.entries(answers)) {
          const fake = fakePipelines({ componentOf }, (index) => (index === bad ? Number(failure) : undefined));
          const answer = await hostOf(fake)(act(action, fake.addInput(true).inputId));
          expect(await answer.clone().text()).not.toContain('canary');
          const toggled = (action === 'pause' || action === 'resume') && bad === calm.asked.length - 1;
          // A pipeline that was paused is paused, even where its status can't be had.
          if (toggled) expect(await answer.json()).not.toHaveProperty('status');
          else expect(await outcome(Promise.resolve(answer)), `${action} ${bad} ${failure}`).toEqual(expected);
        }
      }
    }
  }
});

test('returns 502 for an unknown pipeline status', async () => {
  const fake = fakePipelines({ statuses: ['<b>Fine</b>'] });
  const answer = hostOf(fake)(act('status', fake.addInput(true).inputId));
  expect(await outcome(answer)).toEqual([502, 'upstream_error']);
});

const malformed = [{ action: 'stop' }, { action: undefined }, { inputId: '../x' }, { inputId: '.' }, { tenantId: '' }];
test.each(malformed)('rejects %j', async (wrong) => {
  expect(await outcome(hosts.create()(act('delete', 'inputs-1', wrong)))).toEqual([400, 'invalid_request']);
  expect(hosts.seen).toEqual([]);
});
