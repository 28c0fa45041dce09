import { expect, test } from 'vitest';
import { fakePipelines } from '../../../../test/support/fake-pipelines.js';
import { disableIntegration, enableIntegration, setIntegrationEnabled } from './set-integration-enabled.js';

/** What a service may know of a pipeline and we do not. */
const unknown = {
  description: 'mine',
  retention: { days: 7 },
  nodes: [
    { id: 'n1', slug: 'in', component_id: 'i', component_type: 'input', enabled: true, config_overrides: { a: [1] } },
    { id: 'n2', slug: 'out', component_id: 'o', component_type: 'output', enabled: false },
  ],
  edges: [{ id: 'e1', from_node_instance_id: 'n1', to_node_instance_id: 'n2', schema_detection_spec: { on: true } }],
};

test('sends one PATCH request with only the enabled field', async () => {
  const fake = fakePipelines();
  const { pipelineId = '' } = fake.addInput(true);
  for (const enabled of [false, true, true, false]) {
    await setIntegrationEnabled({ ...fake, pipelineId, enabled });
    expect(fake.asked.splice(0)).toMatchObject([
      { method: 'PATCH', path: `/v1/org-1/pipelines/${pipelineId}`, body: { enabled } },
    ]);
    expect(fake.pipelines.get(pipelineId)).toMatchObject({ enabled });
  }
});

test('preserves all other fields if the service does not support partial updates', async () => {
  const fake = fakePipelines({ partialPatch: false });
  const { pipelineId = '' } = fake.addInput(true, unknown);
  const before = fake.pipelines.get(pipelineId);
  await disableIntegration({ ...fake, pipelineId });
  expect(fake.pipelines.get(pipelineId)).toEqual({ ...before, enabled: false });
  await enableIntegration({ ...fake, pipelineId });
  expect(fake.pipelines.get(pipelineId)).toEqual({ ...before, enabled: true });
});

test('rejects when a request fails or the pipeline does not exist (R03)', async () => {
  for (const partialPatch of [true, false]) {
    for (const failure of [400, 401, 409, 429, 500, 503, 'before', 'after'] as const) {
      for (let bad = 0; bad < (partialPatch ? 1 : 3); bad += 1) {
        // Where there is no such address, nothing is done whose answer could be lost.
        if (failure === 'after' && !partialPatch && bad === 0) continue;
        const fake = fakePipelines({ partialPatch }, (index) => (index === bad ? failure : undefined));
        const { pipelineId = '' } = fake.addInput(true);
        await expect(disableIntegration({ ...fake, pipelineId })).rejects.toThrow();
        expect(fake.asked).toHaveLength(bad + 1);
      }
    }
    const fake = fakePipelines({ partialPatch });
    await expect(disableIntegration({ ...fake, pipelineId: 'pipelines-9' })).rejects.toMatchObject({ status: 404 });
  }
});

test('writes nothing when aborted between the read and the write', async () => {
  const abort = new AbortController();
  const fake = fakePipelines({ partialPatch: false });
  const { pipelineId = '' } = fake.addInput(true);
  fake.fail = (index) => {
    if (index === 1) abort.abort();
    return undefined;
  };
  const toggled = disableIntegration({ ...fake, pipelineId, signal: abort.signal });
  await expect(toggled).rejects.toMatchObject({ name: 'AbortError' });
  expect(fake.pipelines.get(pipelineId)).toMatchObject({ enabled: true });
});
