import type { BuiltPipeline, PipelineStatus, ServiceRequest } from '@connector-frame/core/connect';
import { pause } from './backoff.js';
import { HostError } from './host-error.js';
import { isRecord, type UnknownRecord } from './is-record.js';
import { pipelineStatus, statusOf } from './pipeline-status.js';
import { ServiceRequestError } from './service-request-error.js';

/** Statuses that may still become `Running` without intervention. */
const transient: readonly PipelineStatus[] = ['Unknown', 'Pending', 'Initializing', 'Throttled'];

interface Build {
  request: ServiceRequest;
  org: string;
  inputId: string;
  inputName: string;
  outputId: string;
}

/**
 * Builds a pipeline from an input to an existing output, and waits up to `runningTimeout`
 * milliseconds for it to run.
 */
export async function buildToOutput(options: Build & { runningTimeout: number }): Promise<BuiltPipeline> {
  const { request, org, outputId, runningTimeout } = options;
  const built = await create(options);
  const pipelineId = built['pipeline_id'] ?? built['id'];
  if (typeof pipelineId !== 'string') {
    throw new HostError('upstream_error', 'The service sent an unexpected response.');
  }
  let status = statusOf(built) ?? 'Unknown';
  const end = Date.now() + runningTimeout;
  for (let wait = 100; Date.now() < end && transient.includes(status); wait = Math.min(wait * 1.5, 1_000)) {
    await pause(wait);
    // The pipeline exists even if its status can't be read.
    ({ status } = await pipelineStatus(request, org, pipelineId).catch(() => ({ status })));
  }
  return { pipelineId, outputId, status, active: status === 'Running' };
}

/** Creates the pipeline in one atomic request, or by the public API where the service has no such route. */
async function create({ request, org, inputId, inputName, outputId }: Build): Promise<UnknownRecord> {
  const post = (path: string, body: object, headers?: Record<string, string>) =>
    request(path, { method: 'POST', body: JSON.stringify(body), ...(headers && { headers }) });
  const one = { input_id: inputId, name: inputName, output: { id: outputId } };
  const built = await post(`/v2/${org}/integrations`, one, { 'idempotency-key': crypto.randomUUID() }).catch(
    (error: unknown) => {
      if (!(error instanceof ServiceRequestError) || (error.status !== 404 && error.status !== 405)) throw error;
      const ends = { input: inputId, output: outputId };
      return post(`/v2/${org}/pipelines/`, {
        name: inputName,
        description: '',
        nodes: Object.entries(ends).map(([slug, component_id]) => ({
          slug,
          component_id,
          component_type: slug,
          enabled: true,
        })),
        edges: [
          {
            name: inputName,
            description: '',
            from_node_instance_id: 'input',
            to_node_instance_id: 'output',
            conditions: { operator: 'always' },
          },
        ],
      });
    },
  );
  return isRecord(built) ? built : {};
}
