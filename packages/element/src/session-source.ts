import { ConnectorFrameError, type ConnectorFrameSession } from '@connector-frame/core/connect';
import type { CompleteSettings } from './frame-settings.js';
import { fetchHostSession } from './host-routes.js';

/** Makes sessions for one form. */
export type SessionSource = () => Promise<ConnectorFrameSession>;

/**
 * Who makes sessions when the form needs one: `fetchSession` as it is at that time, else the host's route; `undefined`
 * where the page gives tokens itself.
 */
export function sessionSource(settings: CompleteSettings): SessionSource | undefined {
  const { kind, typeId, existingId, hostUrl, tenantId } = settings;
  const askHost =
    hostUrl && tenantId
      ? () => fetchHostSession(hostUrl, { tenantId, kind, typeId, connectorId: existingId || undefined })
      : undefined;
  if (!settings.fetchSession) return askHost;
  return async () => {
    const ask = settings.fetchSession ?? askHost;
    if (!ask) throw new ConnectorFrameError('session_failed', 'fetchSession was taken away');
    return ask();
  };
}
