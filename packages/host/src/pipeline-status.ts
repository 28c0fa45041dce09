import type { PipelineStatus, ServiceRequest } from '@connector-frame/core/connect';
import { HostError } from './host-error.js';
import { isRecord } from './is-record.js';

const statuses: readonly PipelineStatus[] = [
  'Unknown',
  'Pending',
  'Initializing',
  'Running',
  'Disabled',
  'Erroring',
  'Throttled',
];

/** Returns the status of a pipeline. */
export async function pipelineStatus(
  service: ServiceRequest,
  org: string,
  pipelineId: string,
): Promise<{ status: PipelineStatus }> {
  const body = await service(`/v2/${org}/pipelines/${encodeURIComponent(pipelineId)}/status`, {});
  const status = statuses.find((known) => isRecord(body) && known === body['status']);
  if (!status) throw new HostError('upstream_error', 'The service sent an unexpected response.');
  return { status };
}
