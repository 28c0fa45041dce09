import { createHash, createHmac, createPrivateKey, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { ConnectorConfig, PollSignature, PollSignatureStep } from '@connector-frame/catalog/types';
import { failed } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';
import type { Authentication, Credentials, Outgoing } from '../signing.js';
import { addFields, fillCredential, readField, type NamedValue } from './credentials.js';

/** What differs between two signatures of the same request. */
export interface Moment {
  /** Milliseconds since the epoch. */
  at: number;
  nonce: string;
}

/** Signs each request as a definition describes. */
export function signatureAuthentication(method: PollSignature, { config, vendorNow }: Credentials): Authentication {
  return {
    sign(request) {
      signRequest(method, request, config, { at: vendorNow(), nonce: randomBytes(32).toString('hex') });
      return Promise.resolve();
    },
    renew: () => false,
  };
}

/** @throws PollError `invalid_config` */
export function signRequest(method: PollSignature, request: Outgoing, config: ConnectorConfig, moment: Moment): void {
  const steps = new Map<string, string>();
  const named: NamedValue = (name, format) => {
    const own = steps.get(name);
    if (own !== undefined) return inForm(own, format);
    if (name === 'timestamp') return timestampOf(moment.at, format);
    if (name === 'nonce') return moment.nonce;
    return inForm(valueOf(name, request), format);
  };
  addFields(method.signed ?? {}, request, config, named);
  for (const step of method.steps) steps.set(step.name, compute(step));
  addFields(method, request, config, named);

  function compute(step: PollSignatureStep): string {
    // A compressed body is no text.
    const isBody = step.of === '{{body}}' && request.body !== undefined;
    const text = isBody ? '' : fillCredential(step.of, config, named);
    const bytes = isBody ? Buffer.from(request.body ?? '') : Buffer.from(text);
    switch (step.kind) {
      case 'text':
        return isBody ? bytes.toString() : text;
      case 'hash': {
        if (step.empty && bytes.length === 0) return '';
        return createHash(step.algorithm).update(bytes.subarray(0, step.first_bytes)).digest(step.encoding);
      }
      case 'hmac': {
        const key = Buffer.from(
          fillCredential(step.key, config, named),
          step.key_encoding === undefined || step.key_encoding === 'text' ? 'utf8' : step.key_encoding,
        );
        return createHmac(step.algorithm, key).update(bytes).digest(step.encoding);
      }
      case 'rsa':
        return sign(step.algorithm, bytes, privateKey(config, step.key)).toString(step.encoding);
    }
  }
}

/** @throws PollError `invalid_config` */
export function privateKey(config: ConnectorConfig, path: string): KeyObject {
  try {
    return createPrivateKey(readField(config, path));
  } catch (error) {
    if (error instanceof PollError) throw error;
    const message = 'This is not an unencrypted private key in PEM format.';
    throw new PollError(failed('invalid_config', message, { at: path }), 'permanent');
  }
}

function valueOf(name: string, { method, url, headers, body = '' }: Outgoing): string {
  const query = url.search.slice(1);
  switch (name) {
    case 'method':
      return method.toUpperCase();
    case 'scheme':
      return url.protocol.slice(0, -1);
    case 'host':
      return url.host;
    case 'path':
      return url.pathname;
    case 'target':
      return url.pathname + url.search;
    case 'query':
      return query;
    case 'sorted_query':
      return sortedQuery(url);
    case 'body':
      return Buffer.from(body).toString();
    case 'length':
      return String(Buffer.byteLength(body));
    default:
      return name.startsWith('header.') ? (headers.get(name.slice('header.'.length)) ?? '') : '';
  }
}

/** Returns the query with each part percent-encoded as in RFC 3986, sorted by name and value. */
function sortedQuery({ searchParams }: URL): string {
  const pairs = [...searchParams].map(([name, value]) => [percentEncode(name), percentEncode(value)] as const);
  return pairs
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Compares by code unit, in every locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const percentEncode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

function inForm(text: string, format: string | undefined): string {
  if (format === 'lower') return text.toLowerCase();
  if (format === 'upper') return text.toUpperCase();
  return format === 'encoded' ? percentEncode(text) : text;
}

function timestampOf(ms: number, format: string | undefined): string {
  const date = new Date(ms);
  const seconds = date.toISOString().slice(0, 19);
  switch (format) {
    case 'rfc3339_seconds':
      return `${seconds}Z`;
    case 'seconds':
      return String(Math.floor(ms / 1_000));
    case 'milliseconds':
      return String(Math.floor(ms));
    case 'http':
      return date.toUTCString();
    case 'compact':
      return `${seconds.replaceAll('-', '')}+0000`;
    default:
      return date.toISOString();
  }
}
