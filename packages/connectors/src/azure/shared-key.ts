import { createHmac } from 'node:crypto';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { toConnectorError } from '../_shared/api/api-error.js';
import { missing } from '../_shared/connection-test/outcome.js';
import type { Authentication, Outgoing } from '../_shared/poll/signing.js';
import { text } from '../_shared/read.js';

/** Headers that are signed by their position, after the method. */
const SIGNED = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
];

/**
 * Signs requests with a key of the storage account.
 * https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
 * @param base URL of the blob service; its path is part of the signed text
 * @throws ConnectorError `invalid_config`, permanent
 */
export function sharedKeyAuthentication({ settings, secrets }: TesterConfig, base: URL): Authentication {
  const account = text(settings, 'account_name') ?? base.hostname.split('.')[0] ?? '';
  const key = text(secrets, 'account_key');
  if (key === undefined) throw toConnectorError(missing('/secrets/account_key', 'Enter the account key.'));
  return {
    sign(request) {
      const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(stringToSign(request, account));
      request.headers.set('authorization', `SharedKey ${account}:${signature.digest('base64')}`);
      return Promise.resolve();
    },
    renew: () => false,
  };
}

/** Returns the text to sign. The headers must contain `x-ms-date` and `x-ms-version`. */
export function stringToSign({ method, url, headers, body }: Outgoing, account: string): string {
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  const value = (name: string): string =>
    name === 'content-length' ? (length === 0 ? '' : String(length)) : (headers.get(name) ?? '');
  const own = [...headers]
    .filter(([name]) => name.startsWith('x-ms-'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => `${name}:${content.trim()}`);
  const parameters = [...new Set(url.searchParams.keys())].toSorted().map((name) => {
    const values = url.searchParams.getAll(name).toSorted().join(',');
    return `${name.toLowerCase()}:${values}`;
  });
  const resource = `/${account}${url.pathname}`;
  return [method, ...SIGNED.map(value), ...own, resource, ...parameters].join('\n');
}
