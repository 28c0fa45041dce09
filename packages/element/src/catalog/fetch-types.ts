import { ConnectorFrameError, type CatalogType } from '@connector-frame/core/connect';
import { fetchJson, routeUrl } from '../host-routes.js';

const STRING_FIELDS = ['type_id', 'name', 'description', 'category'];

/**
 * Requests the connector types of the host's catalog route.
 *
 * @throws {ConnectorFrameError} `load_failed`
 */
export async function fetchTypes(hostUrl: string, kind: string): Promise<CatalogType[]> {
  const url = routeUrl(hostUrl, `catalog?${new URLSearchParams({ kind })}`);
  const { json, request } = await fetchJson('load_failed', 'GET', url);
  if (Array.isArray(json) && json.every(isType)) return json;
  throw new ConnectorFrameError(
    'load_failed',
    `The server of this page returned no list of connector types (${request})`,
  );
}

/** Whether a value has the fields that the catalog shows and searches. */
export function isType(value: unknown): value is CatalogType {
  const fields: Partial<Record<string, unknown>> = Object(value);
  return STRING_FIELDS.every((name) => typeof fields[name] === 'string');
}
