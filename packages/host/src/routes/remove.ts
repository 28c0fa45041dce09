import { inputOf } from '../input-of.js';
import { cleanupOf, removeIntegration } from '../integration.js';
import { readJson } from '../json.js';
import type { Route, RouteTools } from '../route.js';

/** `POST /remove`: deletes an input with its pipeline and output, or what `cleanup` names of them. */
export function removeRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const cleanup = cleanupOf(fields, tools.options.cleanup);
      return removeIntegration(await inputOf(tools, call, fields), cleanup);
    },
  };
}
