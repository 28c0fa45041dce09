import { createHmac } from 'node:crypto';
import { sortedParameters } from './authentication/percent-encode.js';
import { basic, type Outgoing } from './signing.js';

/**
 * Signs a request: computes the HMAC-SHA1 of the date, method, host, path and sorted parameters,
 * one per line, and sends it in hex as the password of basic authentication.
 * https://duo.com/docs/adminapi#authentication
 */
export function duoSignature(request: Outgoing, key: string, secret: string, now: number): void {
  const { url, method, headers } = request;
  const date = new Date(now).toUTCString().replace('GMT', '+0000');
  const parameters = sortedParameters(url.searchParams);
  // The query that is sent must equal the signed one byte for byte.
  url.search = parameters;
  const text = [date, method.toUpperCase(), url.hostname.toLowerCase(), url.pathname, parameters].join('\n');
  headers.set('date', date);
  headers.set('authorization', basic(key, createHmac('sha1', secret).update(text).digest('hex')));
}
