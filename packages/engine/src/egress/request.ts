import { context, propagation } from '@opentelemetry/api';
import type { EgressInit } from './egress.js';
import { EgressError } from './error.js';

/** Headers that only the engine sets: they frame the message or name its receiver. */
const RESERVED = /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect)$/;

/**
 * Parses the URL of a request.
 * @throws {EgressError} `invalid_address`
 */
export function readUrl(address: string | URL): URL {
  if (!URL.canParse(address)) throw new EgressError('invalid_address', 'not a URL');
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EgressError('invalid_address', `${url.protocol} is neither http nor https`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new EgressError('invalid_address', 'the URL holds a user name or password');
  }
  return url;
}

/** Returns whether HTTP can carry this header and callers may set it. */
export function isSendable(name: string, value: string): boolean {
  if (RESERVED.test(name.toLowerCase())) return false;
  try {
    new Headers().set(name, value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses the request headers and adds defaults.
 * @throws {EgressError} `invalid_header`
 */
export function readHeaders(init: EgressInit['headers']): Headers {
  let headers: Headers;
  try {
    headers = new Headers(init);
  } catch {
    // No cause: the original message quotes the value, which may be a secret.
    throw new EgressError('invalid_header', 'a header HTTP can not carry');
  }
  const reserved = [...headers.keys()].find((name) => RESERVED.test(name));
  if (reserved !== undefined) throw new EgressError('invalid_header', `the header ${reserved} can not be set`);
  if (!headers.has('user-agent')) headers.set('user-agent', 'connector-frame');
  // The size limit counts bytes as received, so the body must not be compressed.
  headers.set('accept-encoding', 'identity');
  // Adds `traceparent` while a recorded span is active.
  if (!headers.has('traceparent'))
    propagation.inject(context.active(), headers, { set: (to, name, value) => to.set(name, value) });
  return headers;
}
