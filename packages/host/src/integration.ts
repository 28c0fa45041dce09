import {
  deleteIntegration,
  findIntegrationPipeline,
  setIntegrationEnabled,
  type IntegrationStatus,
} from '@connector-frame/core/connect';
import { cleanupPolicies, isCleanupName, type CleanupName } from './cleanup-names.js';
import { HostError } from './host-error.js';
import { requireInput, type TenantInput } from './input-of.js';
import type { UnknownRecord } from './is-record.js';
import { pipelineStatus } from './pipeline-status.js';
import type { Call, RouteTools } from './route.js';

/** Returns the state of an input's pipeline. */
export async function integrationStatus<Context>(
  { service }: RouteTools<Context>,
  input: TenantInput,
): Promise<IntegrationStatus> {
  requireInput(input);
  const found = await findIntegrationPipeline(input);
  if (!found) return { hasPipeline: false, enabled: false };
  const { pipelineId, outputId, enabled } = found;
  const status = await pipelineStatus(service, input.org, pipelineId);
  return { hasPipeline: true, pipelineId, ...(outputId !== undefined && { outputId }), enabled, ...status };
}

/** Resumes or pauses an input's pipeline, and returns its new state. */
export async function toggleIntegration<Context>(
  { options, service }: RouteTools<Context>,
  { request }: Call<Context>,
  input: TenantInput,
  enabled: boolean,
): Promise<IntegrationStatus> {
  requireInput(input);
  const found = await findIntegrationPipeline(input);
  if (!found) return { hasPipeline: false, enabled: false };
  const { pipelineId, outputId } = found;
  await setIntegrationEnabled({ ...input, pipelineId, enabled });
  // The action succeeded even if the status can't be read.
  const status = await pipelineStatus(service, input.org, pipelineId).catch((error: unknown) =>
    options.onError(error, request),
  );
  return { hasPipeline: true, pipelineId, ...(outputId !== undefined && { outputId }), enabled, ...status };
}

/** Deletes what `cleanup` names of an input, its pipeline and its output. Can be repeated. */
export async function removeIntegration(input: TenantInput, cleanup: CleanupName): Promise<Response> {
  if (input.exists) {
    const { pipelineId, outputId } = (await findIntegrationPipeline(input)) ?? {};
    await deleteIntegration({ ...input, pipelineId, outputId, cleanup: cleanupPolicies[cleanup] });
  }
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } });
}

/**
 * Returns the requested cleanup if the host allows it; by default, the host's first option.
 * @throws HostError `invalid_request` or `forbidden`
 */
export function cleanupOf({ cleanup }: UnknownRecord, allowed: readonly [CleanupName, ...CleanupName[]]): CleanupName {
  if (cleanup === undefined) return allowed[0];
  if (!isCleanupName(cleanup)) {
    throw new HostError('invalid_request', '"cleanup" must be "full", "keep-output" or "pipeline-only".');
  }
  if (!allowed.includes(cleanup)) throw new HostError('forbidden', 'This kind of cleanup is not offered here.');
  return cleanup;
}
