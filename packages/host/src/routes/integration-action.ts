import { HostError } from '../host-error.js';
import { inputOf } from '../input-of.js';
import { cleanupOf, toggleIntegration, integrationStatus, removeIntegration } from '../integration.js';
import type { UnknownRecord } from '../is-record.js';
import { json, readJson } from '../json.js';
import type { Route, RouteTools } from '../route.js';

/** `POST /integration-action`: `status`, `pause`, `resume` or `delete` of an input's pipeline. */
export function integrationActionRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async handle(call) {
      const fields = await readJson(call.request);
      const action = actionOf(fields);
      const cleanup = action === 'delete' ? cleanupOf(fields, tools.options.cleanup) : undefined;
      const input = await inputOf(tools, call, fields);
      if (cleanup) return removeIntegration(input, cleanup);
      if (action === 'status') return json(await integrationStatus(tools, input));
      return json(await toggleIntegration(tools, call, input, action === 'resume'));
    },
  };
}

function actionOf({ action }: UnknownRecord) {
  if (action === 'status' || action === 'pause' || action === 'resume' || action === 'delete') return action;
  throw new HostError('invalid_request', '"action" must be "status", "pause", "resume" or "delete".');
}
