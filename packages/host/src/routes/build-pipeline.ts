import { buildDevNullPipeline } from '@connector-frame/core/connect';
import { buildToOutput } from '../build-to-output.js';
import { text } from '../fields.js';
import { HostError } from '../host-error.js';
import { inputOf, requireInput } from '../input-of.js';
import { json, readJson } from '../json.js';
import type { Route, RouteTools } from '../route.js';
import { connectorId, tenantConnector } from '../tenant-connector.js';

/** Milliseconds a page waits at most for its pipeline to run; after that it asks for the status. */
const runningTimeout = 5_000;

/**
 * `POST /build-pipeline`: runs an input of the tenant with an output that drops records, or with the output
 * that `outputId` names.
 */
export function buildPipelineRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async answer(call) {
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
