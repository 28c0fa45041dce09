import type { BuiltPipeline, PipelineStatus, ServiceRequest } from '@connector-frame/core/connect';
import { pause } from './backoff.js';
import { HostError } from './host-error.js';
import { isRecord } from './is-record.js';
import { pipelineStatus } from './pipeline-status.js';

/** States in which waiting may help: the pipeline can become `Running` without a change. */
const startingStates: readonly PipelineStatus[] = ['Unknown', 'Pending', 'Initializing', 'Throttled'];

/**
 * Builds a pipeline from an input to an existing output in one atomic call, and waits up to
 * `runningTimeout` milliseconds for it to run.
 */
export async function buildToOutput({
  request,
  org,
  inputId,
  inputName,
  outputId,
  runningTimeout,
}: {
  request: ServiceRequest;
  org: string;
  inputId: string;
  inputName: string;
  outputId: string;
  runningTimeout: number;
}): Promise<BuiltPipeline> {
  const built = await request(`/v2/${org}/integrations`, {
    method: 'POST',
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ input_id: inputId, name: inputName, output: { id: outputId } }),
  });
  const pipelineId = isRecord(built) ? built['pipeline_id'] : undefined;
  if (typeof pipelineId !== 'string') {
    throw new HostError('upstream_error', 'The service answered in an unknown shape.');
  }
  let status: PipelineStatus = 'Unknown';
  const end = Date.now() + runningTimeout;
  for (let wait = 100; Date.now() < end && startingStates.includes(status); wait = Math.min(wait * 1.5, 1_000)) {
    await pause(wait);
    // The pipeline is built even if its status cannot be read.
    ({ status } = await pipelineStatus(request, org, pipelineId).catch(() => ({ status })));
  }
  return { pipelineId, outputId, status, active: status === 'Running' };
}
