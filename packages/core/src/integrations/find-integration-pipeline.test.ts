import { describe, expect, test } from 'vitest';
import { fakePipelines, type Abilities } from '../../../../test/support/fake-pipelines.js';
import { findIntegrationPipeline } from './find-integration-pipeline.js';

/** How services tell which pipeline an input has. */
const tellings: [name: string, can: Abilities][] = [
  ['when the input lists its pipelines', { componentOf: true }],
  ['when the pipeline list contains input IDs', { componentOf: false }],
  ['when only the pipeline details contain input IDs', { componentOf: false, inputInList: false }],
  ['when the input lists its pipelines without input and output IDs', { componentOf: true, inputInList: false }],
];
const others = (fake: ReturnType<typeof fakePipelines>, count: number) => {
  for (let i = 0; i < count; i += 1) fake.addInput(true);
};

describe.each(tellings)('%s', (_, can) => {
  test.each([0, 1, 7, 8, 9, 23, 100])('finds the pipeline among %i others at any position', async (count) => {
    for (const before of new Set([0, count >> 1, count])) {
      const fake = fakePipelines({ ...can, pageSize: 10 });
      others(fake, before);
      const mine = fake.addInput(true);
      others(fake, count - before);
      expect(await findIntegrationPipeline({ ...fake, inputId: mine.inputId })).toEqual({
        org: fake.org,
        enabled: true,
        ...mine,
      });
      expect(fake.mostInFlight).toBeLessThanOrEqual(8);
    }
  });

  test('returns null for an input without a pipeline and for an unknown input', async () => {
    for (const total of [true, false]) {
      const fake = fakePipelines({ ...can, pageSize: 7, total });
      others(fake, 30);
      expect(await findIntegrationPipeline({ ...fake, inputId: fake.addInput().inputId })).toBeNull();
      expect(await findIntegrationPipeline({ ...fake, inputId: 'inputs-999' })).toBeNull();
    }
  });

  test('returns enabled: false for a paused pipeline', async () => {
    const fake = fakePipelines(can);
    const { inputId } = fake.addInput(true, { enabled: false });
    expect(await findIntegrationPipeline({ ...fake, inputId })).toMatchObject({ enabled: false });
  });

  test('rejects when any request fails (R03)', async () => {
    for (const failure of [401, 403, 429, 500, 502, 503, 'before', 'after'] as const) {
      const fake = fakePipelines({ ...can, pageSize: 5 });
      others(fake, 12);
      const { inputId } = fake.addInput(true);
      await findIntegrationPipeline({ ...fake, inputId });
      const requests = fake.asked.length;
      for (let bad = 0; bad < requests; bad += 1) {
        fake.asked.length = 0;
        fake.fail = (index) => (index === bad ? failure : undefined);
        await expect(findIntegrationPipeline({ ...fake, inputId }), `request ${bad}: ${failure}`).rejects.toThrow();
      }
    }
  });
});

test('sends one request if the input lists its pipelines, regardless of how many there are', async () => {
  for (const count of [10, 1_000, 5_000]) {
    const fake = fakePipelines();
    others(fake, count);
    const { inputId } = fake.addInput(true);
    expect(await findIntegrationPipeline({ ...fake, inputId })).not.toBeNull();
    expect(fake.asked).toHaveLength(1);
  }
});

test('reads thousands of pipelines in pages of the size that the service returns', async () => {
  for (const [pageSize, requests] of [
    [1_000, 1 + 5],
    [250, 1 + 17],
  ] as const) {
    const fake = fakePipelines({ componentOf: false, pageSize });
    others(fake, 4_200);
    const { inputId } = fake.addInput(true);
    expect(await findIntegrationPipeline({ ...fake, inputId })).toMatchObject({ inputId });
    expect(fake.asked).toHaveLength(requests);
  }
});

test('requests at most eight pipeline details at a time', async () => {
  const fake = fakePipelines({ componentOf: false, inputInList: false });
  others(fake, 50);
  await findIntegrationPipeline({ ...fake, inputId: fake.addInput(true).inputId });
  expect(fake.mostInFlight).toBe(8);
});

test('returns null when the service ignores the offset of the list', async () => {
  const fake = fakePipelines({ componentOf: false });
  others(fake, 3);
  const request: typeof fake.request = (path, init) => fake.request(path.replace(/offset=\d+/, 'offset=0'), init);
  expect(await findIntegrationPipeline({ ...fake, request, inputId: fake.addInput().inputId })).toBeNull();
});

test('rejects a list of an unknown shape', async () => {
  await expect(
    findIntegrationPipeline({ request: async () => ({ items: [] }), org: 'org-1', inputId: 'a' }),
  ).rejects.toThrow(TypeError);
});

test('reads the HTTP status from the error message if the error has no status property', async () => {
  const fake = fakePipelines({ statusInText: true, componentOf: false });
  fake.fail = (_, { path }) => (path.includes('/inputs/') ? 405 : undefined);
  const mine = fake.addInput(true);
  expect(await findIntegrationPipeline({ ...fake, inputId: mine.inputId })).toMatchObject(mine);
  fake.fail = () => 503;
  await expect(findIntegrationPipeline({ ...fake, inputId: mine.inputId })).rejects.toThrow(/^503 /);
});

test('encodes ids as single path segments, and rejects dot segments', async () => {
  const asked: string[] = [];
  const request = async (path: string) => {
    asked.push(path);
    return { component_of: [] };
  };
  await findIntegrationPipeline({ request, org: 'a/b', inputId: '../x?y=1#z' });
  expect(asked).toEqual(['/v1/a%2Fb/inputs/..%2Fx%3Fy%3D1%23z']);
  for (const inputId of ['', '.', '..']) {
    await expect(findIntegrationPipeline({ request, org: 'org-1', inputId })).rejects.toThrow(/^Not an ID/);
    await expect(findIntegrationPipeline({ request, org: inputId, inputId: 'a' })).rejects.toThrow(/^Not an ID/);
  }
  expect(asked).toHaveLength(1);
});

test('stops on abort even if the request function ignores the signal', async () => {
  for (let after = 0; after < 4; after += 1) {
    const abort = new AbortController();
    const fake = fakePipelines({ componentOf: false, inputInList: false, pageSize: 4 });
    others(fake, 20);
    const request: typeof fake.request = (path, init) => {
      if (fake.asked.length === after) abort.abort(new Error('enough'));
      return fake.request(path, { ...init, signal: null });
    };
    const found = findIntegrationPipeline({ ...fake, request, inputId: 'inputs-1000', signal: abort.signal });
    await expect(found).rejects.toThrow('enough');
    expect(fake.asked.length).toBeLessThanOrEqual(after + 8);
  }
});
