import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fakePipelines } from '../../../../test/support/fake-pipelines.js';
import { buildDevNullPipeline } from './build-dev-null-pipeline.js';
import { findIntegrationPipeline } from './find-integration-pipeline.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The outcome, and the fake milliseconds it took. */
async function timed<T>(work: Promise<T>) {
  const start = Date.now();
  const settled = work.then(
    (value) => ({ value, error: undefined, ms: Date.now() - start }),
    (error: unknown) => ({ value: undefined, error, ms: Date.now() - start }),
  );
  await vi.runAllTimersAsync();
  return settled;
}

const inputName = 'Web';

describe.each([true, false])('with the integrations endpoint: %s', (integrations) => {
  test('builds a pipeline from the input to a new output and reports it as running', async () => {
    const fake = fakePipelines({ integrations });
    const { inputId } = fake.addInput();
    const { value } = await timed(buildDevNullPipeline({ ...fake, inputId, inputName }));
    const [outputId] = [...fake.outputs.keys()];
    const [pipelineId] = [...fake.pipelines.keys()];
    expect(value).toEqual({ pipelineId, outputId, status: 'Running', active: true });
    expect(fake.outputs.get(outputId ?? '')).toMatchObject({ type: 'dev-null' });
    expect(await findIntegrationPipeline({ ...fake, inputId })).toEqual({
      org: 'org-1',
      inputId,
      pipelineId,
      outputId,
      enabled: true,
    });
  });

  const waits: [statuses: string[], ms: number, status: string][] = [
    [['Running'], 100, 'Running'],
    [['Pending', 'Initializing', 'Running'], 475, 'Running'],
    [['Initializing', 'Throttled', 'Unknown', 'Running'], 812, 'Running'],
    [['Pending', 'Erroring'], 250, 'Erroring'],
    [['Disabled'], 100, 'Disabled'],
  ];
  test.each(waits)('polls through the statuses %j for %i ms', async (statuses, ms, status) => {
    const fake = fakePipelines({ integrations, statuses });
    const { value, ...took } = await timed(
      buildDevNullPipeline({ ...fake, inputId: fake.addInput().inputId, inputName }),
    );
    expect(value).toMatchObject({ status, active: status === 'Running' });
    expect(Math.floor(took.ms)).toBe(ms);
  });

  test('polls after 100 ms, increases the delay by half up to 1 s, and stops after runningTimeout', async () => {
    const fake = fakePipelines({ integrations, statuses: ['Pending'] });
    const times: number[] = [];
    const start = Date.now();
    fake.fail = (_, { path }) => {
      if (path.endsWith('/status')) times.push(Date.now() - start);
      return undefined;
    };
    const { inputId } = fake.addInput();
    const { value } = await timed(buildDevNullPipeline({ ...fake, inputId, inputName, runningTimeout: 5_000 }));
    expect(value).toMatchObject({ status: 'Pending', active: false });
    const gaps = times.map((time, index) => Math.round(time - (times[index - 1] ?? 0)));
    expect(gaps.slice(0, 6).every((gap, index) => Math.abs(gap - 100 * 1.5 ** index) <= 1)).toBe(true);
    expect(gaps.slice(6).every((gap) => Math.abs(gap - 1_000) <= 1)).toBe(true);
    expect(times.at(-1)).toBeGreaterThanOrEqual(5_000);
    expect(times.at(-1)).toBeLessThanOrEqual(6_000);
  });

  test('does not poll with a runningTimeout of 0', async () => {
    const fake = fakePipelines({ integrations });
    const { inputId } = fake.addInput();
    const { value, ms } = await timed(buildDevNullPipeline({ ...fake, inputId, inputName, runningTimeout: 0 }));
    expect(value).toMatchObject({ status: integrations ? 'Pending' : 'Unknown', active: false });
    expect([ms, fake.asked.filter(({ path }) => path.endsWith('/status')).length]).toEqual([0, 0]);
    expect(fake.asked).toHaveLength(integrations ? 1 : 3);
  });

  test('resolves when status requests fail', async () => {
    for (const failure of [404, 429, 500, 'before'] as const) {
      const fake = fakePipelines({ integrations, statuses: ['Initializing', 'Running'] });
      fake.fail = (index, { path }) => (path.endsWith('/status') && index % 2 ? failure : undefined);
      const { value } = await timed(buildDevNullPipeline({ ...fake, inputId: fake.addInput().inputId, inputName }));
      expect(value).toMatchObject({ status: 'Running' });
      fake.fail = (_, { path }) => (path.endsWith('/status') ? failure : undefined);
      const blind = await timed(buildDevNullPipeline({ ...fake, inputId: fake.addInput().inputId, inputName }));
      expect(blind.value).toMatchObject({ status: integrations ? 'Pending' : 'Unknown', active: false });
    }
  });

  test('stops polling on abort and returns the pipeline that it built', async () => {
    const fake = fakePipelines({ integrations, statuses: ['Pending'] });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1_000);
    const { inputId } = fake.addInput();
    const { value, ms } = await timed(buildDevNullPipeline({ ...fake, inputId, inputName, signal: abort.signal }));
    expect(value).toMatchObject({ pipelineId: [...fake.pipelines.keys()][0], active: false });
    expect(ms).toBeLessThanOrEqual(2_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('sends no request when the signal is already aborted', async () => {
    const fake = fakePipelines({ integrations });
    const { inputId } = fake.addInput();
    const signal = AbortSignal.abort();
    const { error } = await timed(buildDevNullPipeline({ ...fake, inputId, inputName, signal }));
    expect(error).toMatchObject({ name: 'AbortError' });
    expect(fake.asked).toEqual([]);
  });
});

test.each([true, false])(
  'rejects a response without IDs (with the integrations endpoint: %s)',
  async (integrations) => {
    const request = async (path: string) => {
      if (!integrations && path.includes('/integrations')) throw new Error('404 nothing here');
      return {};
    };
    const { error } = await timed(buildDevNullPipeline({ request, org: 'org-1', inputId: 'a', inputName }));
    expect(error).toBeInstanceOf(TypeError);
  },
);

test('posts to the integrations endpoint with a new Idempotency-Key per call', async () => {
  const fake = fakePipelines({ integrations: true });
  const { inputId } = fake.addInput();
  for (const _ of [1, 2]) await buildDevNullPipeline({ ...fake, inputId, inputName, runningTimeout: 0 });
  expect(fake.asked[0]).toMatchObject({
    method: 'POST',
    path: '/v2/org-1/integrations',
    body: { input_id: inputId, name: 'Web', output: { type: 'dev-null' } },
  });
  expect(new Set(fake.asked.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(2);
});

test('without the endpoint, creates the output and the pipeline without an Idempotency-Key', async () => {
  const fake = fakePipelines();
  const { inputId } = fake.addInput();
  await timed(buildDevNullPipeline({ ...fake, inputId, inputName }));
  expect(fake.asked.slice(1).map(({ headers }) => headers.has('idempotency-key'))).not.toContain(true);
  const [, output, pipeline] = fake.asked;
  expect(output?.body).toEqual({
    name: 'Web',
    description: '',
    type: 'dev-null',
    output_type: 'dev-null',
    config: { settings: {}, secrets: {} },
  });
  expect(pipeline?.body).toEqual({
    name: 'Web',
    description: '',
    nodes: [
      { slug: 'input', component_id: inputId, component_type: 'input', enabled: true },
      { slug: 'output', component_id: [...fake.outputs.keys()][0], component_type: 'output', enabled: true },
    ],
    edges: [
      {
        name: 'Web',
        description: '',
        from_node_instance_id: 'input',
        to_node_instance_id: 'output',
        conditions: { operator: 'always' },
      },
    ],
  });
});

describe('cleanup after a failure without the integrations endpoint (R02)', () => {
  const failures = [400, 401, 409, 429, 500, 503, 'before', 'after'] as const;
  // Request 0 is the one call: where there is no such address, nothing is done whose answer could be lost.
  const cases = failures
    .flatMap((failure) => [0, 1, 2].map((bad) => [failure, bad] as const))
    .filter(([failure, bad]) => failure !== 'after' || bad > 0);

  test.each(cases)('rejects after failure %s of request %i', async (failure, bad) => {
    const fake = fakePipelines({}, (index) => (index === bad ? failure : undefined));
    const { inputId } = fake.addInput();
    const { error } = await timed(buildDevNullPipeline({ ...fake, inputId, inputName }));
    expect(error).toBeInstanceOf(Error);
    const lost = failure === 'after' && bad === 2;
    // The answer was lost, and the pipeline was not: its output is in use, and named.
    if (lost) expect(error).toMatchObject({ created: { outputId: [...fake.outputs.keys()][0] } });
    else expect(fake.pipelines.size).toBe(0);
    // An output whose very id was lost is the one thing nobody can name.
    if (!lost && !(failure === 'after' && bad === 1)) expect(fake.outputs.size).toBe(0);
    expect(Object(error).created === undefined).toBe(!lost);
  });

  test('names the output in the error when it cannot delete it', async () => {
    for (const statusInText of [true, false]) {
      const fake = fakePipelines({ statusInText }, (index) => (index >= 2 ? 503 : undefined));
      const { inputId } = fake.addInput();
      const { error } = await timed(buildDevNullPipeline({ ...fake, inputId, inputName }));
      expect(error).toMatchObject({ created: { outputId: [...fake.outputs.keys()][0] } });
    }
  });

  test('leaves no output or pipeline when aborted during any request', async () => {
    for (let at = 0; at < 3; at += 1) {
      const abort = new AbortController();
      const fake = fakePipelines();
      const request: typeof fake.request = (path, init) => {
        if (fake.asked.length === at) abort.abort();
        return fake.request(path, init);
      };
      const { inputId } = fake.addInput();
      const { error } = await timed(
        buildDevNullPipeline({ ...fake, request, inputId, inputName, signal: abort.signal }),
      );
      expect(error).toMatchObject({ name: 'AbortError' });
      expect([fake.outputs.size, fake.pipelines.size]).toEqual([0, 0]);
    }
  });

  test('rejects an unknown input and leaves no output', async () => {
    const fake = fakePipelines();
    const { error } = await timed(buildDevNullPipeline({ ...fake, inputId: 'inputs-9', inputName }));
    expect(error).toMatchObject({ status: 400 });
    expect(fake.outputs.size).toBe(0);
  });
});
