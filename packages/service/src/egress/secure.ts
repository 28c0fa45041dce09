import { isIP, type Socket } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import { EgressError } from './error.js';

export interface SecureOptions {
  /** Host the certificate must be for, name or address; a name goes into SNI. */
  host: string;
  signal: AbortSignal;
  /** `false` accepts any certificate. */
  verify: boolean;
  /** What is trusted; default: Node's own list. */
  context: SecureContext | undefined;
}

/** TLS for HTTP/1.1 over a connected socket. Takes the socket over; a failure destroys it. */
export function secure(socket: Socket, { host, signal, verify, context }: SecureOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      host,
      servername: isIP(host) ? '' : host,
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: verify,
      ...(context && { secureContext: context }),
    });
    const stop = (): void => {
      secured.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    // Stays for the life of the socket, as in dial.ts.
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
