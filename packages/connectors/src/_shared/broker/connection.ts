import type { Socket } from 'node:net';
import { createSecureContext, type ConnectionOptions } from 'node:tls';
import { ConnectorError, type Egress, EgressError, secure } from '@connector-frame/engine/connector-api';
import { at, text } from '../read.js';
import { egressFailure } from '../output/failures.js';

const CONNECT_MS = 10_000;

export interface BrokerAddress {
  host: string;
  port: number;
  /** Absent: plaintext. */
  tls?: ConnectionOptions;
}

/**
 * Reads the fields `tls`, `key_file` and `key_pass`, which the types of brokers share.
 * @param config settings and secrets of a connector
 */
export function readTls({ settings, secrets }: { settings: unknown; secrets: unknown }): ConnectionOptions {
  const ca = text(settings, 'tls', 'ca_file');
  const cert = text(settings, 'tls', 'crt_file');
  const key = text(secrets, 'key_file');
  const passphrase = text(secrets, 'key_pass');
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key, ...(passphrase !== undefined && { passphrase }) }),
    ...(at(settings, 'tls', 'verify_certificate') === false && { rejectUnauthorized: false }),
    ...(at(settings, 'tls', 'verify_hostname') === false && { checkServerIdentity: () => undefined }),
  };
}

/**
 * Opens a connection through the egress guard, with TLS if the address has it.
 *
 * @throws EgressError
 * @throws ConnectorError `invalid_config`: the certificates and the key can't be used
 */
export async function openConnection(
  egress: Egress,
  { host, port, tls }: BrokerAddress,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await egress.connect({ host, port, signal, timeoutMs: CONNECT_MS });
  socket.setNoDelay(true);
  if (!tls) return socket;
  try {
    createSecureContext(tls);
  } catch {
    socket.destroy();
    throw new ConnectorError(
      'invalid_config',
      'The certificate, its private key and the password of the key cannot be used together.',
      'permanent',
    );
  }
  return secure(socket, host, signal, tls);
}

/** Converts what a client throws to an error whose message quotes nothing from the broker. */
export function brokerError(error: unknown, product: string): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (error instanceof EgressError) return egressFailure(error.reason, product);
  return egressFailure('connect_failed', product);
}
