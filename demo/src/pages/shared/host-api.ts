import type { CatalogType, ComponentKind, ConfiguredConnector } from '@connector-frame/core/connect';

/** What can be connected, from the host's own route. */
export const catalog = (kind: ComponentKind) => get<CatalogType[]>(`/api/catalog?kind=${kind}`);

/** What this tenant has connected. */
export const connectors = (kind: ComponentKind, tenantId: string) =>
  get<ConfiguredConnector[]>(`/api/connectors?kind=${kind}&tenantId=${encodeURIComponent(tenantId)}`);

/**
 * Our own backend answers in the shapes its contract names, so they are believed here.
 * @throws Error with a message for people
 */
async function get<T>(path: string): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch (cause) {
    throw new Error('Northwind’s server does not answer. Is it still running?', { cause });
  }
  if (response.status === 401) location.reload(); // Signed out elsewhere: the server shows the sign-in.
  const body: T & { message?: string } = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new Error(body.message ?? `The server answered ${response.status}.`);
}
