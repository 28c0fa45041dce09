import type { ConnectorConfig, DeliveryAddress, DeliveryRequest } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { failed } from '../connection-test/outcome.js';
import { PollError } from '../poll/poll-error.js';
import type { Scope } from './placeholders.js';
import { fillEntries, fillText } from './template.js';

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** Returns the pointers of the fields in an address. */
export function addressFields(address: DeliveryAddress | readonly DeliveryAddress[]): string[] {
  return [address].flat().flatMap((each: DeliveryAddress) => {
    const templates = typeof each === 'string' ? [each] : Object.values(each.of);
    const named = templates.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name));
    return typeof each === 'string' ? named : [each.field, ...named];
  });
}

/**
 * Builds the base URL that receives records and secrets: of the first address whose fields all have
 * a value. A value can't change more of it than the definition says.
 *
 * @throws PollError `invalid_config`
 */
export function readBase(addresses: DeliveryAddress | readonly DeliveryAddress[], config: ConnectorConfig): URL {
  const [field] = addressFields(addresses);
  for (const address of [addresses].flat()) {
    const template = typeof address === 'string' ? address : selected(address, config);
    const url = template === undefined ? undefined : build(template, config, field);
    if (url) return url;
  }
  throw invalidAddress(field);
}

function selected({ field, of }: Exclude<DeliveryAddress, string>, config: ConnectorConfig): string | undefined {
  const value: unknown = getAt(config, field);
  return typeof value === 'string' && Object.hasOwn(of, value) ? of[value] : undefined;
}

function build(template: string, config: ConnectorConfig, field: string | undefined): URL | undefined {
  let complete = true;
  let first: URL | undefined;
  const isWhole = /^\{\{[^{}]*\}\}$/.test(template);
  const text = template.replaceAll(PLACEHOLDER, (_whole, name: string, offset: number) => {
    const given: unknown = getAt(config, name);
    const value = typeof given === 'number' ? String(given) : typeof given === 'string' ? given.trim() : '';
    if (value === '') complete = false;
    const after = template.slice(offset + name.length + 4);
    const isScheme = after.startsWith('://');
    if (offset > 0 || isScheme || value === '') {
      // The egress guard decides about a host, in whatever notation.
      const isHost = template.slice(0, offset).endsWith('://') && /^(?:[:/]|$)/.test(after);
      if (isHost && /^[^\s/?#@\\]+$/.test(value))
        return value.split(':').length > 2 && !value.startsWith('[') ? `[${value}]` : value;
      const isPart = /^[A-Za-z0-9._-]+$/.test(value);
      const isPath = offset > 0 && /^[A-Za-z0-9._~%:@/-]+$/.test(value) && isPathPart(template, offset);
      if (value !== '' && !isPart && !isPath) throw invalidAddress(name);
      return template[offset - 1] === '/' ? value.replace(/^\/+/, '') : value;
    }
    first = parse(value.includes('://') ? value : `https://${value}`, name);
    return isWhole ? first.href : first.href.replace(/\/$/, '');
  });
  if (!complete) return undefined;
  const url = parse(text, field);
  // What follows a value must not move the request to another host.
  if (first && first.hostname !== url.hostname) throw invalidAddress(field);
  return url;
}

/** Whether a value at this place of a template is part of the path. */
function isPathPart(template: string, offset: number): boolean {
  const before = template.slice(0, offset).replace(/^.*?:\/\//, '');
  return before.includes('/') || template.slice(0, offset).endsWith('}}');
}

function parse(text: string, field: string | undefined): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isWeb || url.username !== '' || url.password !== '') throw invalidAddress(field);
  return url;
}

/**
 * Builds the URL of a request. A query that is part of the base stays.
 *
 * @throws PollError `invalid_config`
 */
export function requestUrl(base: URL, { path, query }: Pick<DeliveryRequest, 'path' | 'query'>, scope: Scope): URL {
  const filled = fillText(path, scope, (value) => {
    if (/^\.{1,2}$/.test(value)) throw invalidAddress(undefined);
    return encodeURIComponent(value);
  });
  if (filled === undefined) throw invalidAddress(undefined);
  const url = new URL(base);
  if (filled !== '') url.pathname = base.pathname.replace(/\/$/, '') + filled;
  for (const [name, value] of fillEntries(query, scope)) url.searchParams.append(name, value);
  return url;
}

const invalidAddress = (field: string | undefined): PollError =>
  new PollError(failed('invalid_config', 'These settings do not form a valid address.', { at: field }), 'permanent');
