import type { CatalogType, ComponentKind, ConfiguredConnector } from '@connector-frame/core/connect';

/** Fetches the connector types of a kind from the host's route. */
export const catalog = (kind: ComponentKind) => fetchJson<CatalogType[]>(`/api/catalog?kind=${kind}`);

/** Fetches the tenant's connectors of a kind from the host's route. */
export const connectors = (kind: ComponentKind, tenantId: string) =>
  fetchJson<ConfiguredConnector[]>(`/api/connectors?kind=${kind}&tenantId=${encodeURIComponent(tenantId)}`);

/**
 * Calls the demo's own backend. Responses are not validated, because the backend is trusted to
 * follow its contract.
 * @param body sent as JSON with POST; without it, the request is a GET
 * @throws Error with a message for users
 */
export async function fetchJson<T>(path: string, body?: object): Promise<T> {
  let response: Response;
  try {
    const headers = { 'content-type': 'application/json' };
    response = await fetch(path, body && { method: 'POST', headers, body: JSON.stringify(body) });
  } catch (cause) {
    throw new Error('Northwind’s server does not respond. Is it still running?', { cause });
  }
  if (response.status === 401) location.reload(); // Signed out elsewhere: the server responds with the sign-in page.
  const result: T & { message?: string } = await response.json().catch(() => ({}));
  if (response.ok) return result;
  throw new Error(result.message ?? `The server returned status ${response.status}.`);
}
