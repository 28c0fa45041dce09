import { randomBytes } from 'node:crypto';
import type { ConnectorConfig, PollSignature } from '@connector-frame/catalog/types';
import type { Authentication, Credentials, Outgoing } from '../signing.js';
import { addFields, type NamedValue } from './credentials.js';
import { percentEncode, sortedParameters } from './percent-encode.js';
import { computeSteps, momentValues, type Moment } from './steps.js';

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
  const values = new Map<string, string>();
  const ofMoment = momentValues(moment);
  const named: NamedValue = (name, form) =>
    ofMoment(name, form) ?? inForm(values.get(name) ?? valueOf(name, request), form);
  addFields(method.signed ?? {}, request, config, named);
  computeSteps(method.steps, config, named, values, request.body);
  addFields(method, request, config, named);
}

function valueOf(name: string, { method, url, headers, body = '' }: Outgoing): string {
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
      return url.search.slice(1);
    case 'sorted_query':
      return sortedParameters(url.searchParams);
    case 'body':
      return Buffer.from(body).toString();
    case 'length':
      return String(Buffer.byteLength(body));
    default:
      return name.startsWith('header.') ? (headers.get(name.slice('header.'.length)) ?? '') : '';
  }
}

function inForm(text: string, form: string | undefined): string {
  if (form === 'lower') return text.toLowerCase();
  if (form === 'upper') return text.toUpperCase();
  return form === 'encoded' ? percentEncode(text) : text;
}
