import type { ConfiguredConnector } from '@connector-frame/core/connect';
import { authorize } from '../authorize.js';
import { kindOf, queryFields, text } from '../fields.js';
import type { UnknownRecord } from '../is-record.js';
import { json } from '../json.js';
import { listAll } from '../list-all.js';
import type { Route, RouteTools } from '../route.js';
import { connectorsPath } from '../tenant-connector.js';

/** `GET /connectors?kind=&tenantId=`: returns all connectors of a tenant, from all pages of the list. */
export function connectorsRoute<Context>(tools: RouteTools<Context>): Route<Context> {
  return {
    method: 'GET',
    async handle(call) {
      const fields = queryFields(call.url);
      const kind = kindOf(fields);
      const organizationId = await authorize(tools, call, text(fields, 'tenantId'));
      const path = connectorsPath(organizationId, kind);
      return json((await listAll(tools.service, path, `${kind}s`)).map(connector));
    },
  };
}

/** The service names the type `type` here and `type_id` in its catalog; the page gets one name. */
function connector(row: UnknownRecord): ConfiguredConnector {
  return {
    id: string(row['id']),
    type_id: string(row['type'] ?? row['type_id']),
    name: string(row['name']),
    description: string(row['description']),
    ...(row['needs_reauth'] === true && { needs_reauth: true as const }),
  };
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
