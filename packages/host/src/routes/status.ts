import { queryFields } from '../fields.js';
import { inputOf } from '../input-of.js';
import { integrationStatus } from '../integration.js';
import { json } from '../json.js';
import type { Route, RouteTools } from '../route.js';

/** `GET /status?tenantId=&inputId=`: returns the state of an input's pipeline. */
export function statusRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'GET',
    handle: async (call) => json(await integrationStatus(tools, await inputOf(tools, call, queryFields(call.url)))),
  };
}
