import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { publicService, type PublicVariant } from '../../../../test/support/public-service.js';
import { buildDevNullPipeline } from './build-dev-null-pipeline.js';
import { CLEANUP_KEEP_OUTPUT, deleteIntegration } from './delete-integration.js';
import { findIntegrationPipeline } from './find-integration-pipeline.js';
import { disableIntegration, enableIntegration } from './set-integration-enabled.js';

// The fake is built from the shapes of the public API's documents, not from this project's service.

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function build(service: ReturnType<typeof publicService>, options: { pollAttempts?: number } = {}) {
  const inputId = service.addInput();
  const built = buildDevNullPipeline({ ...service, inputId, inputName: 'Web', ...options });
  await vi.runAllTimersAsync();
  return { inputId, ...(await built) };
}

const variants: PublicVariant[] = [
  { componentOf: true, inputInRows: false },
  { componentOf: true, inputInRows: true },
  { componentOf: false, inputInRows: false },
  { componentOf: false, inputInRows: true },
];

describe.each(variants)('a service with the public shapes: %j', (variant) => {
  test('builds, finds, pauses, resumes and deletes an integration', async () => {
    const service = publicService(variant);
    await build(service);
    const { inputId, pipelineId, outputId } = await build(service);
    const found = { org: service.org, inputId, pipelineId, outputId, enabled: true };
    expect(await findIntegrationPipeline({ ...service, inputId })).toEqual(found);
    await disableIntegration({ ...service, pipelineId });
    expect(await findIntegrationPipeline({ ...service, inputId })).toEqual({ ...found, enabled: false });
    await enableIntegration({ ...service, pipelineId });
    expect(await findIntegrationPipeline({ ...service, inputId })).toEqual(found);
    await deleteIntegration({ ...service, ...found, cleanup: CLEANUP_KEEP_OUTPUT });
    expect([service.pipelines.size, service.inputs.size, service.outputs.size]).toEqual([1, 1, 2]);
  });

  test('an input without a pipeline has none, also if lists are null', async () => {
    const service = publicService(variant);
    const inputId = service.addInput();
    expect(await findIntegrationPipeline({ ...service, inputId })).toBeNull();
    await build(service);
    expect(await findIntegrationPipeline({ ...service, inputId })).toBeNull();
  });
});

test('reads the status from the object that the creation returns, and polls until it is final', async () => {
  const service = publicService({ statuses: ['Pending', 'Initializing', 'Running'] });
  expect(await build(service)).toMatchObject({ status: 'Running', active: true });
  const failing = publicService({ statuses: ['Erroring'] });
  expect(await build(failing)).toMatchObject({ status: 'Erroring', active: false });
  expect(failing.calls.filter(({ path }) => path.endsWith('/status'))).toEqual([]);
});

test('sends at most pollAttempts status requests', async () => {
  for (const pollAttempts of [0, 1, 3, 40]) {
    const service = publicService({ statuses: ['Pending'] });
    expect(await build(service, { pollAttempts })).toMatchObject({ status: 'Pending', active: false });
    expect(service.calls.filter(({ path }) => path.endsWith('/status'))).toHaveLength(pollAttempts);
  }
});

test('deletes every part that has an ID if no cleanup is given', async () => {
  const service = publicService();
  const { inputId, pipelineId, outputId } = await build(service);
  const kept = service.addOutput();
  await deleteIntegration({ ...service, inputId, pipelineId, outputId });
  expect([service.pipelines.size, service.inputs.size, [...service.outputs.keys()]]).toEqual([0, 0, [kept]]);
});

test('a status that is neither a name nor an object with one is Unknown', async () => {
  for (const status of [{}, null, 7, { status: { code: 1 } }]) {
    const request = async (path: string) => {
      if (path.includes('/integrations')) throw new Error('404 nothing here');
      return { id: 'some-id', status };
    };
    const built = buildDevNullPipeline({ request, org: 'org-1', inputId: 'a', inputName: 'Web', pollAttempts: 2 });
    await vi.runAllTimersAsync();
    expect(await built).toMatchObject({ status: 'Unknown', active: false });
  }
});
