import type { EgressInit } from './egress.js';
import { EgressError } from './error.js';

/** Ours to set: they frame the message or name its receiver. */
const RESERVED = /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect)$/;

/** @throws EgressError */
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

/** Whether HTTP can carry this header, and it is not one of ours to set. */
export function isSendable(name: string, value: string): boolean {
  if (RESERVED.test(name.toLowerCase())) return false;
  try {
    new Headers().set(name, value);
    return true;
  } catch {
    return false;
  }
}

/** @throws EgressError */
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
  // Bytes are bounded as they arrive, so nothing may grow after that.
  headers.set('accept-encoding', 'identity');
  return headers;
}
