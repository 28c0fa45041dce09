import type { PollRequest, PollTemplate } from '@connector-frame/catalog/types';
import { failed } from '../connection-test/outcome.js';
import type { Subject } from '../connection-test/failures.js';
import { PollError } from './poll-error.js';
import { fill, queryOf, type Values } from './template.js';

/**
 * Builds a URL that receives secrets. A value in the template is either part of the host name or,
 * if it is the entire template, the whole URL.
 *
 * @throws PollError `invalid_config`
 */
export function readAddress(template: PollTemplate, values: Values, subject: Subject): URL {
  const alone = /^\{\{[^{}]*\}\}$/.test(template);
  const text = fill(template, values, (value) => {
    // Other characters, such as `/` or `@`, could change the host.
    if (!alone && !/^[A-Za-z0-9.-]+$/.test(value)) throw noAddress(subject);
    return value;
  });
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') throw noAddress(subject);
  return alone ? new URL(url.origin) : url;
}

/** Builds the URL of a request relative to `base`. @throws PollError `invalid_config` */
export function addressOf(base: URL, request: PollRequest, values: Values, subject: Subject): URL {
  const path = fill(request.path, values, (value) => {
    if (/^\.{1,2}$/.test(value)) throw noAddress(subject);
    return encodeURIComponent(value);
  });
  if (path === undefined) throw noAddress(subject);
  const url = new URL(base.origin + base.pathname.replace(/\/$/, '') + path);
  for (const [name, value] of queryOf(request.query, values)) url.searchParams.append(name, value);
  return url;
}

const noAddress = (subject: Subject): PollError =>
  new PollError(
    failed('invalid_config', 'These settings do not make up an address we can connect to.', { at: subject.address }),
    'permanent',
  );
