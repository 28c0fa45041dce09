import type { PollRequest, PollTemplate } from '@connector-frame/catalog/types';
import { failed } from '../connection-test/outcome.js';
import type { Subject } from '../connection-test/failures.js';
import { PollError } from './poll-error.js';
import { fill, queryOf, type Values } from './template.js';

/**
 * An address that secrets are sent to. A value in it may be a part of the host name or, alone, the whole address.
 * @throws PollError `invalid_config`
 */
export function readAddress(template: PollTemplate, values: Values, subject: Subject): URL {
  const alone = /^\{\{[^{}]*\}\}$/.test(template);
  const text = fill(template, values, (value) => {
    // More than a part of a name could lead to another host.
    if (!alone && !/^[A-Za-z0-9.-]+$/.test(value)) throw noAddress(subject);
    return value;
  });
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') throw noAddress(subject);
  return alone ? new URL(url.origin) : url;
}

/** The address of a request under `base`. @throws PollError `invalid_config` */
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
