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
  const status = statusOf(await service(`/v2/${org}/pipelines/${encodeURIComponent(pipelineId)}/status`, {}));
  if (!status) throw new HostError('upstream_error', 'The service sent an unexpected response.');
  return { status };
}

/** Returns the `status` of a response: its name, or an object with a `status` of its own. */
export function statusOf(body: unknown): PipelineStatus | undefined {
  const given = isRecord(body) ? body['status'] : undefined;
  return isRecord(given) ? statusOf(given) : statuses.find((known) => known === given);
}
