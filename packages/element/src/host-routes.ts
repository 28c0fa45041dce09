import {
  ConnectorFrameError,
  type ConnectorFrameErrorCode,
  type ConnectorFrameSession,
  type HostConfig,
} from '@connector-frame/core/connect';
import { explainBlocked } from './explain-blocked.js';

/** Parameters of the host's session route. */
export interface SessionParams {
  tenantId: string;
  kind: string;
  typeId: string;
  connectorId?: string | undefined;
}

/** An error with the message that the page's own backend wrote for its users. */
export class HostMessageError extends ConnectorFrameError {}

/** Milliseconds. Longer than any working host needs, shorter than a user waits. */
const TIMEOUT = 15_000;

/** Addresses by URL, so that many forms on a page request them once. */
const configs = new Map<string, Promise<HostConfig>>();

/**
 * Requests the addresses of the form and its service from the host.
 *
 * @throws {ConnectorFrameError} `session_failed`
 */
export function fetchHostConfig(hostUrl: string): Promise<HostConfig> {
  const url = routeUrl(hostUrl, 'monad/config');
  const known = configs.get(url);
  if (known) return known;
  const config = fetchStrings('GET', url).then((read) => ({
    frameOrigin: read('frameOrigin'),
    apiBase: read('apiBase'),
  }));
  configs.set(url, config);
  config.catch(() => configs.delete(url));
  return config;
}

/**
 * Requests a session for one form from the host.
 *
 * @throws {ConnectorFrameError} `session_failed`
 */
export async function fetchHostSession(hostUrl: string, params: SessionParams): Promise<ConnectorFrameSession> {
  const read = await fetchStrings('POST', routeUrl(hostUrl, 'session'), params);
  return {
    sessionToken: read('session_token'),
    organizationId: read('organizationId'),
    expiresAt: read('expires_at'),
  };
}

/**
 * Returns the URL of a host route. Relative URLs are resolved like the page's links. An invalid
 * `hostUrl` is returned as is: the request then fails with its name in the message.
 */
export function routeUrl(hostUrl: string, route: string): string {
  const url = `${hostUrl.replace(/\/+$/, '')}/${route}`;
  return URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : url;
}

/** Returns a reader of the response's fields, which must be strings. */
async function fetchStrings(method: string, url: string, body?: object): Promise<(field: string) => string> {
  const { json, request } = await fetchJson('session_failed', method, url, body);
  const fields: Partial<Record<string, unknown>> = Object(json);
  return (field) => {
    const value = fields[field];
    if (typeof value === 'string') return value;
    throw new ConnectorFrameError('session_failed', `The server of this page returned no ${field} (${request})`);
  };
}

/**
 * Sends a request to the page's own server.
 *
 * @param code error code if there is no response, or an error response
 * @returns the JSON of the response, and the request for use in error messages
 * @throws {ConnectorFrameError} with the host's own message, if it sent one; `request_blocked` if
 *   the page's CSP forbids the request
 */
export async function fetchJson(
  code: ConnectorFrameErrorCode,
  method: string,
  url: string,
  body?: object,
): Promise<{ json: unknown; request: string }> {
  const request = `${method} ${url}`;
  const fail = (message: string): never => {
    throw new ConnectorFrameError(code, message);
  };
  const send = () =>
    fetch(url, {
      method,
      signal: AbortSignal.timeout(TIMEOUT),
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    }).catch(() => fail(`The server of this page does not respond (${request})`));
  const response = await explainBlocked(send, url);
  const json: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    const { message, resource }: Partial<Record<string, unknown>> = Object(json);
    if (typeof message !== 'string') fail(`The server of this page responded ${response.status} (${request})`);
    throw new HostMessageError(resource === 'connector' ? 'connector_not_found' : code, String(message));
  }
  return { json, request };
}
