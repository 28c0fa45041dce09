import { HostError } from '../host-error.js';
import { inputOf } from '../input-of.js';
import { toggleIntegration } from '../integration.js';
import { json, readJson } from '../json.js';
import type { Route, RouteTools } from '../route.js';

/** `POST /state`: resumes (`enabled: true`) or pauses an input's pipeline. */
export function stateRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const { enabled } = fields;
      if (typeof enabled !== 'boolean') throw new HostError('invalid_request', '"enabled" must be true or false.');
      return json(await toggleIntegration(tools, call, await inputOf(tools, call, fields), enabled));
    },
  };
}
