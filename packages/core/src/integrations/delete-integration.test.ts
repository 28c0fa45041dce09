import { describe, expect, test } from 'vitest';
import { fakePipelines } from '../../../../test/support/fake-pipelines.js';
import { CLEANUP_FULL, CLEANUP_KEEP_OUTPUT, CLEANUP_PIPELINE_ONLY, deleteIntegration } from './delete-integration.js';

const policies = {
  CLEANUP_FULL: [CLEANUP_FULL, 0, 0, 0],
  CLEANUP_KEEP_OUTPUT: [CLEANUP_KEEP_OUTPUT, 0, 0, 1],
  CLEANUP_PIPELINE_ONLY: [CLEANUP_PIPELINE_ONLY, 0, 1, 1],
  'an output alone': [{ pipeline: false, input: false }, 1, 1, 0],
  'flags that are set': [{ pipeline: true, input: true, output: true }, 0, 0, 0],
} as const;

const left = (fake: ReturnType<typeof fakePipelines>) => [fake.pipelines.size, fake.inputs.size, fake.outputs.size];

describe.each([true, false])('with the integrations endpoint: %s', (integrations) => {
  test.each(Object.entries(policies))(
    'deletes the components selected by cleanup, also when repeated: %s',
    async (name, [cleanup, ...expected]) => {
      const fake = fakePipelines({ integrations });
      const ids = fake.addInput(true);
      // What a pipeline uses stays where the pipeline does.
      if (name === 'an output alone') Object.assign(fake.pipelines.get(ids.pipelineId ?? '') ?? {}, { nodes: [] });
      for (const _ of ['once', 'again']) {
        expect(await deleteIntegration({ ...fake, ...ids, cleanup })).toBeUndefined();
        expect(left(fake)).toEqual(expected);
      }
    },
  );

  test('deletes only components whose ID is given', async () => {
    const fake = fakePipelines({ integrations });
    const { pipelineId } = fake.addInput(true);
    await deleteIntegration({ ...fake, pipelineId, cleanup: CLEANUP_FULL });
    expect(left(fake)).toEqual([0, 1, 1]);
    await deleteIntegration({ ...fake, cleanup: CLEANUP_FULL });
    expect(left(fake)).toEqual([0, 1, 1]);
  });

  test('rejects when a request fails, and completes the deletion when repeated (R02, R03)', async () => {
    for (const failure of [401, 409, 429, 500, 503, 'before', 'after'] as const) {
      for (let bad = 0; bad < (integrations ? 1 : 4); bad += 1) {
        // Where there is no such address, nothing is done whose answer could be lost.
        if (failure === 'after' && !integrations && bad === 0) continue;
        const fake = fakePipelines({ integrations }, (index) => (index === bad ? failure : undefined));
        const ids = fake.addInput(true);
        await expect(deleteIntegration({ ...fake, ...ids, cleanup: CLEANUP_FULL })).rejects.toThrow();
        fake.fail = () => undefined;
        await deleteIntegration({ ...fake, ...ids, cleanup: CLEANUP_FULL });
        expect(left(fake)).toEqual([0, 0, 0]);
      }
    }
  });
});

test('posts to the integrations endpoint with a new Idempotency-Key per call', async () => {
  const fake = fakePipelines({ integrations: true });
  for (const _ of [1, 2]) await deleteIntegration({ ...fake, ...fake.addInput(true), cleanup: CLEANUP_KEEP_OUTPUT });
  const keys = fake.asked.map(({ headers }) => headers.get('idempotency-key'));
  expect(new Set(keys).size).toBe(2);
  expect(fake.asked[0]).toMatchObject({
    path: '/v2/org-1/integrations/delete',
    body: { input_id: 'inputs-1', output_id: 'outputs-2', pipeline_id: 'pipelines-3', cleanup: { output: false } },
  });
});

test('without the endpoint, deletes the pipeline first and rejects on 405', async () => {
  const fake = fakePipelines();
  await deleteIntegration({ ...fake, ...fake.addInput(true), cleanup: CLEANUP_FULL });
  expect(fake.asked.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'DELETE /v2/org-1/pipelines/pipelines-3',
    'DELETE /v1/org-1/inputs/inputs-1',
    'DELETE /v1/org-1/outputs/outputs-2',
  ]);
  fake.fail = () => 405;
  const refused = deleteIntegration({ ...fake, pipelineId: 'pipelines-3', cleanup: CLEANUP_FULL });
  await expect(refused).rejects.toMatchObject({ status: 405 });
});

test('rejects with 409 and keeps an output that another pipeline uses', async () => {
  const fake = fakePipelines();
  const mine = fake.addInput(true);
  const other = fake.addInput(true);
  const nodes = [{ component_id: mine.outputId, component_type: 'output' }];
  Object.assign(fake.pipelines.get(other.pipelineId ?? '') ?? {}, { nodes });
  await expect(deleteIntegration({ ...fake, ...mine, cleanup: CLEANUP_FULL })).rejects.toMatchObject({ status: 409 });
  expect(fake.outputs.has(mine.outputId ?? '')).toBe(true);
});
