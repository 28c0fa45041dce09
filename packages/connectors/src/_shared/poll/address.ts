import type { PollAddress, PollField, PollRequest, PollTemplate } from '@connector-frame/catalog/types';
import { getAt, isEmpty } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import type { Subject } from '../connection-test/failures.js';
import { PollError } from './poll-error.js';
import { fill, parametersOf, type Values } from './template.js';

/**
 * Builds a URL that receives secrets. A value in the template is the whole URL, if the template
 * begins with it, the host with or without a port, part of the host name, or a segment of the path. The query of a URL is kept
 * if nothing follows it in the template.
 *
 * @throws PollError `invalid_config`
 */
export function readAddress(address: PollAddress, values: Values, subject: Subject): URL {
  const template = typeof address === 'string' ? address : selected(address, values);
  if (template === undefined) throw noAddress(subject);
  const leading = /^\{\{[^{}]*\}\}/.exec(template)?.[0];
  const start = leading ?? /^https:\/\/(?:\{\{[^{}]*\}\}|[^/{}])*/.exec(template)?.[0] ?? '';
  const isWhole = /^https:\/\/\{\{[^{}]*\}\}$/.test(start);
  const host = fill(start, values, (value) => {
    // Other characters, such as `/` or `@`, could change the host.
    if (leading === undefined && !(isWhole ? /^[A-Za-z0-9.-]+(?::\d{1,5})?$/ : /^[A-Za-z0-9.-]+$/).test(value))
      throw noAddress(subject);
    return value;
  });
  const path = fill(template.slice(start.length), values, (value) => segment(value, subject));
  const url = host !== undefined && URL.canParse(host) ? new URL(host) : undefined;
  if (path === undefined || url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw noAddress(subject);
  // `addressOf` needs the query of a whole URL only if nothing follows it.
  if (leading === template) return new URL(url.origin + url.pathname + url.search);
  return new URL(url.origin + url.pathname.replace(/\/+$/, '') + path);
}

function selected(address: Exclude<PollAddress, string>, { settings }: Values): PollTemplate | undefined {
  const { field, of } = address;
  const value: unknown = getAt({ settings }, field);
  if (isEmpty(value)) return address.default;
  if (of === undefined) return `{{${field}}}`;
  const key = String(value).trim();
  return Object.hasOwn(of, key) ? of[key] : of['*'];
}

/** Returns the pointer of the setting that decides an address. */
export function addressField(address: PollAddress): PollField | undefined {
  return typeof address === 'string' ? /\{\{(\/settings\/[^{}]+)\}\}/.exec(address)?.[1] : address.field;
}

/** Encodes a value as one path segment. */
function segment(value: string, subject: Subject): string {
  if (/^\.{1,2}$/.test(value)) throw noAddress(subject);
  return encodeURIComponent(value);
}

/** Encodes a value as segments of a path. A slash at its beginning or end adds none. */
const segments = (value: string, subject: Subject): string =>
  value
    .replaceAll(/^\/+|\/+$/g, '')
    .split('/')
    .map((each) => {
      if (each === '') throw noAddress(subject);
      return segment(each, subject);
    })
    .join('/');

/** Builds the URL of a request relative to `base`. @throws PollError `invalid_config` */
export function addressOf(base: URL, request: PollRequest, values: Values, subject: Subject): URL {
  const path = fill(request.path, values, (value, isPath) =>
    isPath ? segments(value, subject) : segment(value, subject),
  );
  if (path === undefined) throw noAddress(subject);
  const url = request.path === '' ? new URL(base) : new URL(base.origin + base.pathname.replace(/\/+$/, '') + path);
  for (const [name, value] of parametersOf(request.query, values)) url.searchParams.append(name, value);
  return url;
}

const noAddress = (subject: Subject): PollError =>
  new PollError(
    failed('invalid_config', 'These settings do not form a valid address.', { at: subject.address }),
    'permanent',
  );
