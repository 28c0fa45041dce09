import { buildPipeline } from '../build-pipeline.js';
import { text } from '../fields.js';
import { inputOf } from '../input-of.js';
import { json, readJson } from '../json.js';
import type { Route, RouteTools } from '../route.js';
import { connectorId } from '../tenant-connector.js';

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
      return json(await buildPipeline(tools, await inputOf(tools, call, fields), inputName, outputId));
    },
  };
}
