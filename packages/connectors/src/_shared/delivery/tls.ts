import type { ConnectorConfig, DeliveryTls } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import { PollError } from '../poll/poll-error.js';

export interface TlsOptions {
  verifyTls?: boolean;
  ca?: string;
}

/**
 * Reads the TLS fields.
 *
 * @throws PollError for a field that can't be honored: ignoring it would weaken the connection or
 *   fail without a reason
 */
export function readTls(fields: DeliveryTls | undefined, config: ConnectorConfig): TlsOptions {
  if (!fields) return {};
  const { group, skip_verify: skip, ca } = fields;
  const read = (key: string): unknown => (group === undefined ? undefined : getAt(config, `${group}/${key}`));
  const at = (key: string): string => `${group ?? ''}/${key}`;
  if (filled(read('crt_file'))) throw unsupported('Client certificates are not supported here.', at('crt_file'));
  const verifyTls = read('verify_certificate') !== false && (skip === undefined || getAt(config, skip) !== true);
  if (verifyTls && read('verify_hostname') === false)
    throw unsupported('The host name of a certificate is always checked.', at('verify_hostname'));
  const authority = filled(read('ca_file')) ?? filled(ca === undefined ? undefined : getAt(config, ca));
  return { ...(!verifyTls && { verifyTls }), ...(authority !== undefined && { ca: authority }) };
}

const filled = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

const unsupported = (message: string, path: string): PollError =>
  new PollError(failed('invalid_config', message, { at: path }), 'permanent');
