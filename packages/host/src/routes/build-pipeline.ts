import { buildDevNullPipeline } from '@connector-frame/core/connect';
import { text } from '../fields.js';
import { inputOf, requireInput } from '../input-of.js';
import { json, readJson } from '../json.js';
import type { Route, RouteTools } from '../route.js';

/** Milliseconds a page waits at most for its pipeline to run; after that it asks for the status. */
const runningTimeout = 5_000;

/** `POST /build-pipeline`: an input of the tenant at work, with an output that drops what comes. */
export function buildPipelineRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async answer(call) {
      const fields = await readJson(call.request);
      const inputName = text(fields, 'inputName');
      const input = await inputOf(tools, call, fields);
      requireInput(input);
      return json(await buildDevNullPipeline({ ...input, inputName, runningTimeout }));
    },
  };
}
