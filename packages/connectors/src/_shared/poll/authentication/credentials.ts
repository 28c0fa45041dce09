import type { ConnectorConfig, PollCredential, PollCredentialFields } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { missing } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';
import { setHeader, type Outgoing } from '../signing.js';

/** Returns the value of a placeholder that is not a field, with its form: `timestamp`, `seconds`. */
export type NamedValue = (name: string, form: string | undefined) => string | undefined;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const isPointer = (credential: PollCredential): boolean => /^\/(?:settings|secrets)\//.test(credential);

/** Returns the pointers of the fields in a credential, or in all texts of a value. */
export function fieldsIn(value: unknown): string[] {
  if (typeof value !== 'string')
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(fieldsIn) : [];
  if (isPointer(value)) return [value];
  return [...value.matchAll(PLACEHOLDER)].flatMap(([, name = '']) => (name.startsWith('/') ? [name] : []));
}

/** Returns the field that a problem with a credential is reported at: its last secret, or its last field. */
export function fieldOf(credential: PollCredential): string {
  const fields = fieldsIn(credential);
  return fields.findLast((path) => path.startsWith('/secrets/')) ?? fields.at(-1) ?? '';
}

/**
 * Fills in a credential.
 *
 * @throws PollError `invalid_config` if a field is empty
 */
export function fillCredential(
  credential: PollCredential,
  config: ConnectorConfig,
  named: NamedValue = () => undefined,
): string {
  if (isPointer(credential)) return readField(config, credential);
  return credential.replaceAll(PLACEHOLDER, (_whole, inner: string) => {
    if (inner.startsWith('/')) return readField(config, inner);
    const [, name = '', form] = /^([^:]*)(?::(.*))?$/.exec(inner) ?? [];
    return named(name, form) ?? '';
  });
}

/** Like `fillCredential`, but returns `undefined` if one of the fields that start with `root` is empty. */
export function fillOptional(
  credential: PollCredential,
  config: ConnectorConfig,
  named?: NamedValue,
  root: '/settings/' | '/' = '/settings/',
): string | undefined {
  const optional = fieldsIn(credential).filter((path) => path.startsWith(root));
  return optional.some((path) => textAt(config, path) === '') ? undefined : fillCredential(credential, config, named);
}

/** Returns all of a map that have a value, filled in. */
export function fillAll(
  credentials: Readonly<Record<string, PollCredential>> | undefined,
  config: ConnectorConfig,
  named?: NamedValue,
  root?: '/settings/' | '/',
): [name: string, value: string][] {
  return Object.entries(credentials ?? {}).flatMap(([name, credential]): [string, string][] => {
    const value = fillOptional(credential, config, named, root);
    return value === undefined ? [] : [[name, value]];
  });
}

/** Adds headers and query parameters to a request. @throws PollError `invalid_config` */
export function addFields(
  { headers, query }: PollCredentialFields,
  request: Pick<Outgoing, 'url' | 'headers'>,
  config: ConnectorConfig,
  named?: NamedValue,
  root?: '/settings/' | '/',
): void {
  for (const [name, value] of fillAll(headers, config, named, root))
    setHeader(request.headers, name, value, fieldOf(headers?.[name] ?? ''));
  for (const [name, value] of fillAll(query, config, named, root)) request.url.searchParams.set(name, value);
}

/** @throws PollError `invalid_config` if the field is empty */
export function readField(config: ConnectorConfig, path: string): string {
  const text = textAt(config, path);
  if (text === '') throw new PollError(missing(path, 'This is required to sign in.'), 'permanent');
  return text;
}

/** Returns `undefined` if there is no such field, or if it is empty. */
export function readOptional(config: ConnectorConfig, path: string | undefined): string | undefined {
  const text = path === undefined ? '' : textAt(config, path);
  return text === '' ? undefined : text;
}

function textAt(config: ConnectorConfig, path: string): string {
  const value: unknown = getAt(config, path);
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
