import { buildDevNullPipeline, type BuiltPipeline } from '@connector-frame/core/connect';
import { buildToOutput } from './build-to-output.js';
import { HostError } from './host-error.js';
import { requireInput, type TenantInput } from './input-of.js';
import type { RouteTools } from './route.js';
import { tenantConnector } from './tenant-connector.js';

/** Maximum milliseconds to wait for the pipeline to run; after that, the page polls the status. */
const runningTimeout = 5_000;

/**
 * Builds a pipeline from an input of the tenant to its output `outputId`. Without one, the output
 * is new and discards all records.
 * @throws HostError `not_found` if the tenant has no such input or output
 */
export async function buildPipeline<Context>(
  tools: RouteTools<Context>,
  input: TenantInput,
  inputName: string,
  outputId: string | undefined,
): Promise<BuiltPipeline> {
  requireInput(input);
  if (outputId === undefined) return buildDevNullPipeline({ ...input, inputName, runningTimeout });
  if (!(await tenantConnector(tools, input.org, 'output', outputId))) {
    throw new HostError('not_found', 'There is no such output.');
  }
  return buildToOutput({ ...input, inputName, outputId, runningTimeout });
}
