import {
  deleteIntegration,
  findIntegrationPipeline,
  setIntegrationEnabled,
  type IntegrationStatus,
} from '@connector-frame/core/connect';
import { cleanupPolicies, isCleanupName, type CleanupName } from '../cleanup-names.js';
import { HostError } from '../host-error.js';
import { inputOf, requireInput } from '../input-of.js';
import type { UnknownRecord } from '../is-record.js';
import { json, readJson } from '../json.js';
import { pipelineStatus } from '../pipeline-status.js';
import type { Route, RouteTools } from '../route.js';

/** `POST /integration-action`: `status`, `pause`, `resume` or `delete` of an input's pipeline. */
export function integrationActionRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  const { options } = tools;
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const action = actionOf(fields);
      const cleanup = action === 'delete' ? cleanupOf(fields, options.cleanup) : undefined;
      const input = await inputOf(tools, call, fields);
      // A repeated `delete` succeeds.
      if (!cleanup) requireInput(input);
      const found = input.exists ? await findIntegrationPipeline(input) : null;
      if (cleanup) {
        if (input.exists) {
          const { pipelineId, outputId } = found ?? {};
          await deleteIntegration({ ...input, pipelineId, outputId, cleanup: cleanupPolicies[cleanup] });
        }
        return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } });
      }
      if (!found) return json({ hasPipeline: false, enabled: false } satisfies IntegrationStatus);

      const { pipelineId, outputId } = found;
      let { enabled } = found;
      const status = () => pipelineStatus(tools.service, input.org, pipelineId);
      const base = { hasPipeline: true, pipelineId, ...(outputId !== undefined && { outputId }) };
      if (action === 'status') return json({ ...base, enabled, ...(await status()) } satisfies IntegrationStatus);

      enabled = action === 'resume';
      await setIntegrationEnabled({ ...input, pipelineId, enabled });
      // The action succeeded even if the status can't be read.
      const current = await status().catch((error: unknown) => options.onError(error, call.request));
      return json({ ...base, enabled, ...current } satisfies IntegrationStatus);
    },
  };
}

function actionOf({ action }: UnknownRecord) {
  if (action === 'status' || action === 'pause' || action === 'resume' || action === 'delete') return action;
  throw new HostError('invalid_request', '"action" must be "status", "pause", "resume" or "delete".');
}

/** Returns the requested cleanup if the host allows it; by default, the host's first option. */
function cleanupOf({ cleanup }: UnknownRecord, allowed: readonly [CleanupName, ...CleanupName[]]): CleanupName {
  if (cleanup === undefined) return allowed[0];
  if (!isCleanupName(cleanup)) {
    throw new HostError('invalid_request', '"cleanup" must be "full", "keep-output" or "pipeline-only".');
  }
  if (!allowed.includes(cleanup)) throw new HostError('forbidden', 'This kind of cleanup is not offered here.');
  return cleanup;
}
