import { ConnectorError, type ListenAt } from '@connector-frame/engine/connector-api';

/** Converts an error of a port that can't be opened. */
export function cannotListen(error: unknown, { host, port }: ListenAt): ConnectorError {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reasons: Record<string, string> = {
    EADDRINUSE: 'another program is using it',
    EACCES: 'permission denied',
    EADDRNOTAVAIL: 'this machine does not have that address',
  };
  const reason = reasons[code] ?? 'it could not be opened';
  return new ConnectorError('cannot_listen', `Port ${port} of ${host} cannot be opened: ${reason}.`, 'retry');
}
