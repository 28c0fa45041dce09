import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { EgressInit } from '@connector-frame/engine/connector-api';
import { failed } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

/**
 * Reads the settings that decide how the connection is made. The build rejects a polled type with
 * others (`check-poll-connection.ts`).
 *
 * @throws PollError `invalid_config`
 */
export function readTls({ settings }: ConnectorConfig): Pick<EgressInit, 'verifyTls' | 'ca'> {
  // Without its proxy, the request would take a way that the customer does not want.
  if (filled(settings['proxy_url'])) throw invalid('proxy_url', 'Proxies are not supported here. Leave this empty.');
  const verifies = ['verify_ssl', 'verify_certificate', 'use_ssl'].every((key) => settings[key] !== false);
  const ca = filled(settings['ca_certificate_file']);
  return { ...(!verifies && { verifyTls: false }), ...(ca !== undefined && { ca: decodePem(ca) }) };
}

/** Products show the certificate as PEM, or as the Base64 of a PEM file. */
function decodePem(text: string): string {
  const pem = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString();
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw invalid('ca_certificate_file', 'This is not a certificate in PEM format, nor its Base64.');
}

const filled = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

const invalid = (key: string, message: string): PollError =>
  new PollError(failed('invalid_config', message, { at: `/settings/${key}` }), 'permanent');
