import { ConnectorFrameError, type ConnectorFrameSession } from '@connector-frame/core/connect';
import type { CompleteOptions } from './element-options.js';
import { fetchHostSession } from './host-routes.js';

/** Requests a session for one form. */
export type SessionSource = () => Promise<ConnectorFrameSession>;

/**
 * Returns the source of sessions: `fetchSession`, read when a session is requested, or else the
 * host's session route. `undefined` if the page sets tokens itself.
 */
export function createSessionSource(options: CompleteOptions): SessionSource | undefined {
  const { kind, typeId, existingId, hostUrl, tenantId } = options;
  const fetchFromHost =
    hostUrl && tenantId
      ? () => fetchHostSession(hostUrl, { tenantId, kind, typeId, connectorId: existingId || undefined })
      : undefined;
  if (!options.fetchSession) return fetchFromHost;
  return async () => {
    const source = options.fetchSession ?? fetchFromHost;
    if (!source) throw new ConnectorFrameError('session_failed', 'fetchSession was removed');
    return source();
  };
}
