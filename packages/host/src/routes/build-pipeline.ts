import { buildDevNullPipeline } from '@connector-frame/core/connect';
import { buildToOutput } from '../build-to-output.js';
import { text } from '../fields.js';
import { HostError } from '../host-error.js';
import { inputOf, requireInput } from '../input-of.js';
import { json, readJson } from '../json.js';
import type { Route, RouteTools } from '../route.js';
import { connectorId, tenantConnector } from '../tenant-connector.js';

/** Maximum milliseconds to wait for the pipeline to run; after that, the page polls the status. */
const runningTimeout = 5_000;

/**
 * `POST /build-pipeline`: builds a pipeline from an input of the tenant to an output that discards
 * all records, or to the tenant's output `outputId`.
 */
export function buildPipelineRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const inputName = text(fields, 'inputName');
      const outputId = fields['outputId'] === undefined ? undefined : connectorId(fields, 'outputId', 'output');
      const input = await inputOf(tools, call, fields);
      requireInput(input);
      if (outputId === undefined) return json(await buildDevNullPipeline({ ...input, inputName, runningTimeout }));
      if (!(await tenantConnector(tools, input.org, 'output', outputId))) {
        throw new HostError('not_found', 'There is no such output.');
      }
      return json(await buildToOutput({ ...input, inputName, outputId, runningTimeout }));
    },
  };
}
