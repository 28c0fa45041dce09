import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { ConnectorError, type ListenAt } from '@connector-frame/engine/connector-api';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { at, text } from '../read.js';

/** How connections of senders are encrypted. */
export interface ListenTls {
  /** Options of a TLS server. Absent: senders can't encrypt. */
  options: TlsOptions | undefined;
  /** Unencrypted connections are refused. */
  required: boolean;
  /** The certificate of a sender must be for the address that it comes from. */
  verifiesAddress: boolean;
}

const HANDSHAKE_SECONDS = 15;

/**
 * Reads the settings of `common#/tls_listener`. Without its own certificate, an input shows the
 * operator's.
 * @throws ConnectorError `invalid_config`
 */
export function tlsOptions(config: ConnectorConfig, { tls }: ListenAt): ListenTls {
  const isOn = (name: string): boolean => at(config, 'settings', 'tls', name) === true;
  const cert = text(config, 'settings', 'tls', 'crt_file');
  const ca = text(config, 'settings', 'tls', 'ca_file');
  const verifiesClient = isOn('verify_certificate');
  const seconds = at(config, 'settings', 'tls_handshake_timeout_secs');
  if (verifiesClient && ca === undefined)
    throw invalid('Add the authority that has signed the certificates of senders.');
  if (isOn('verify_hostname') && !verifiesClient)
    throw invalid('The name of a sender can only be checked if it must have a certificate.');
  const own = cert === undefined ? tls : ownCertificate(cert, config);
  const required = isOn('enabled') || verifiesClient;
  if (required && !own) throw invalid('This service has no certificate for its ports. Add one, and its private key.');
  return {
    options: own && {
      ...readable({ ...own, ...(ca !== undefined && { ca }) }),
      requestCert: verifiesClient,
      rejectUnauthorized: verifiesClient,
      handshakeTimeout: (typeof seconds === 'number' ? seconds : HANDSHAKE_SECONDS) * 1_000,
    },
    required,
    verifiesAddress: isOn('verify_hostname'),
  };
}

const invalid = (message: string): ConnectorError => new ConnectorError('invalid_config', message, 'permanent');

function ownCertificate(cert: string, config: ConnectorConfig): { key: string; cert: string } {
  const key = text(config, 'secrets', 'key_file');
  if (key === undefined) throw invalid('Add the private key of the certificate.');
  const passphrase = text(config, 'secrets', 'key_pass');
  try {
    const opened = createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
    if (!new X509Certificate(cert).checkPrivateKey(opened)) throw new Error('no match');
    return { cert, key: opened.export({ type: 'pkcs8', format: 'pem' }).toString() };
  } catch {
    throw invalid('The private key does not match the certificate, or its password is wrong.');
  }
}

function readable(certificates: { key: string; cert: string; ca?: string }): TlsOptions {
  // Disable resumption: the client does not present its certificate in a resumed session.
  const options = { ...certificates, secureOptions: constants.SSL_OP_NO_TICKET };
  try {
    createSecureContext(options);
    return options;
  } catch {
    throw invalid('The certificates under "Encryption" are not valid PEM.');
  }
}
