import type { CatalogType, ComponentKind, ConfiguredConnector } from '@connector-frame/core/connect';

/** What can be connected, from the host's own route. */
export const catalog = (kind: ComponentKind) => ask<CatalogType[]>(`/api/catalog?kind=${kind}`);

/** What this tenant has connected. */
export const connectors = (kind: ComponentKind, tenantId: string) =>
  ask<ConfiguredConnector[]>(`/api/connectors?kind=${kind}&tenantId=${encodeURIComponent(tenantId)}`);

/**
 * Our own backend answers in the shapes its contract names, so they are believed here.
 * @param body makes it a write
 * @throws Error with a message for people
 */
export async function ask<T>(path: string, body?: object): Promise<T> {
  let response: Response;
  try {
    const headers = { 'content-type': 'application/json' };
    response = await fetch(path, body && { method: 'POST', headers, body: JSON.stringify(body) });
  } catch (cause) {
    throw new Error('Northwind’s server does not answer. Is it still running?', { cause });
  }
  if (response.status === 401) location.reload(); // Signed out elsewhere: the server shows the sign-in.
  const answer: T & { message?: string } = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw new Error(answer.message ?? `The server answered ${response.status}.`);
}
