import { findIntegrationPipeline, type BuiltPipeline } from '@connector-frame/core/connect';
import { buildPipeline } from '../build-pipeline.js';
import { text } from '../fields.js';
import { HostError } from '../host-error.js';
import { inputOf, type TenantInput } from '../input-of.js';
import { json, readJson } from '../json.js';
import { pipelineStatus } from '../pipeline-status.js';
import type { Route, RouteTools } from '../route.js';
import { connectorId } from '../tenant-connector.js';

/**
 * `POST /ingress`: makes an input receive records. Builds a pipeline to an output that discards
 * them, unless the input has a pipeline.
 */
export function ingressRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const inputName = text(fields, 'inputName');
      const input = await inputOf(tools, call, fields);
      const existing = await existingPipeline(tools, input);
      return json(existing ?? (await buildPipeline(tools, input, inputName, undefined)));
    },
  };
}

/**
 * `POST /egress`: makes the records of an input arrive at an output of the tenant. Responds with
 * 409 if the input has a pipeline to another output.
 */
export function egressRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const inputName = text(fields, 'inputName');
      const outputId = connectorId(fields, 'outputId', 'output');
      const input = await inputOf(tools, call, fields);
      const existing = await existingPipeline(tools, input);
      if (existing && existing.outputId !== outputId) {
        throw new HostError('conflict', 'This input has a pipeline to another output. Remove that pipeline first.');
      }
      return json(existing ?? (await buildPipeline(tools, input, inputName, outputId)));
    },
  };
}

/** Returns the pipeline that an input has already, so that a repeated request builds no second one. */
async function existingPipeline<Context>(
  { service }: RouteTools<Context>,
  input: TenantInput,
): Promise<BuiltPipeline | undefined> {
  const found = input.exists ? await findIntegrationPipeline(input) : null;
  if (!found) return undefined;
  const { pipelineId, outputId = '' } = found;
  // The pipeline exists even if its status can't be read.
  const { status } = await pipelineStatus(service, input.org, pipelineId).catch(() => ({ status: 'Unknown' as const }));
  return { pipelineId, outputId, status, active: status === 'Running' };
}
