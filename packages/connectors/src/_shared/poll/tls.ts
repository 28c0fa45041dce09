import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { EgressInit } from '@connector-frame/engine/connector-api';
import { failed } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

const CA_SETTINGS = ['ca_certificate_file', 'ca_certificate_file_parsed_into_base64_string'];

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
  const key = CA_SETTINGS.find((each) => filled(settings[each]) !== undefined);
  const ca = key === undefined ? {} : { ca: decodePem(filled(settings[key]) ?? '', key) };
  return { ...(!verifies && { verifyTls: false }), ...ca };
}

/** Products show the certificate as PEM, or as the Base64 of a PEM file. */
function decodePem(text: string, key: string): string {
  const pem = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString();
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw invalid(key, 'This is not a certificate in PEM format, nor its Base64.');
}

const filled = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

const invalid = (key: string, message: string): PollError =>
  new PollError(failed('invalid_config', message, { at: `/settings/${key}` }), 'permanent');
