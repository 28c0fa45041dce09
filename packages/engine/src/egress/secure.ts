import { isIP, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { EgressError } from './error.js';

/**
 * Performs a TLS handshake on a connected socket for the host it was dialed as: a host name is sent
 * as SNI, and the certificate must match it unless `options` say otherwise. Takes ownership of the
 * socket; a failure destroys it and rejects with `tls_failed`.
 */
export function secure(
  socket: Socket,
  host: string,
  signal: AbortSignal,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = connect({ ...options, socket, host, servername: isIP(host) ? '' : host });
    const stop = (): void => {
      secured.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    // Kept for the socket's lifetime, as in dial.ts.
    secured.on('error', (error) => {
      socket.destroy();
      reject(new EgressError('tls_failed', `TLS with ${host} failed`, { cause: error }));
    });
    secured.once('close', () => reject(new EgressError('tls_failed', `${host} closed the connection during TLS`)));
    secured.once('secureConnect', () => {
      signal.removeEventListener('abort', stop);
      resolve(secured);
    });
  });
}
