import { createHmac, randomBytes } from 'node:crypto';
import type { ConnectorConfig, PollOAuth1 } from '@connector-frame/catalog/types';
import { setHeader, type Authentication, type Credentials, type Outgoing } from '../signing.js';
import { fieldOf, fillCredential, readOptional } from './credentials.js';
import { percentEncode, sortedParameters } from './percent-encode.js';
import type { Moment } from './steps.js';

const HASHES = { 'HMAC-SHA1': 'sha1', 'HMAC-SHA256': 'sha256' } as const;

/** Signs each request with OAuth 1.0 (RFC 5849). */
export function oauth1Authentication(method: PollOAuth1, { config, vendorNow }: Credentials): Authentication {
  return {
    sign(request) {
      signOAuth1(method, request, config, { at: vendorNow(), nonce: randomBytes(16).toString('hex') });
      return Promise.resolve();
    },
    renew: () => false,
  };
}

/** @throws PollError `invalid_config` */
export function signOAuth1(method: PollOAuth1, request: Outgoing, config: ConnectorConfig, moment: Moment): void {
  const { url, headers, body } = request;
  const fill = (credential: string): string => fillCredential(credential, config);
  const algorithm = method.algorithm ?? 'HMAC-SHA256';
  const realm = readOptional(config, method.realm);
  const parameters: [string, string][] = [
    ['oauth_consumer_key', fill(method.consumer_key)],
    ['oauth_token', fill(method.token)],
    ['oauth_signature_method', algorithm],
    ['oauth_timestamp', String(Math.floor(moment.at / 1_000))],
    ['oauth_nonce', moment.nonce],
    ['oauth_version', '1.0'],
  ];
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded');
  const form = isForm && typeof body === 'string' ? new URLSearchParams(body) : [];
  const all = sortedParameters([...url.searchParams, ...parameters, ...form]);
  const base = [request.method.toUpperCase(), url.origin + url.pathname, all].map(percentEncode).join('&');
  const key = [method.consumer_secret, method.token_secret].map((each) => percentEncode(fill(each))).join('&');
  const signature = createHmac(HASHES[algorithm], key).update(base).digest('base64');
  const fields = [...(realm === undefined ? [] : [['realm', realm]]), ...parameters, ['oauth_signature', signature]];
  const header = fields.map(([name = '', value = '']) => `${name}="${percentEncode(value)}"`).join(', ');
  setHeader(headers, 'authorization', `OAuth ${header}`, fieldOf(method.consumer_secret));
}
