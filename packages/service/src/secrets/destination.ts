import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { boundPointers, boundValues, effectiveConfig, isMarked } from '@connector-frame/catalog/validate';
import type { SecretValue } from './vault.js';

/**
 * Where and how the secrets of one connector are sent, in the form that its sealed secrets
 * authenticate.
 */
export interface Destination {
  /** Pointers that this release binds: `type` and all marked fields, shown or not. */
  readonly pointers: readonly string[];
  /**
   * Returns the canonical value of each pointer. Omits pointers that this release no longer knows.
   */
  values(pointers: readonly string[]): ReadonlyMap<string, string>;
  /** Returns all of `pointers` with their values, to compare two destinations of the same type. */
  text(): string;
  /** Returns the text that secrets in format 1 were bound to. */
  format1Text(): string;
}

/** Pointer of the connector's kind and type. */
const TYPE = 'type';
const SETTINGS = '/settings';
const SECRETS = '/secrets';

/**
 * Returns whether a secret is itself an address or part of its protection, such as a connection
 * string or a CA.
 */
export const isMarkedSecret = (type: ConnectorTypeData, field: string): boolean => {
  const { properties } = type.config.secrets;
  const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
  return schema !== undefined && isMarked(schema);
};

/**
 * @param settings stored settings
 * @param marked values of the connector's marked secrets, by field. Absent for the destination that
 *   those secrets are bound to themselves, which consists of the settings alone
 */
export function createDestination(
  type: ConnectorTypeData,
  settings: Readonly<Record<string, unknown>>,
  marked?: ReadonlyMap<string, SecretValue>,
): Destination {
  const schema = type.config;
  const known = boundPointers(schema);
  const secrets = marked ? Object.keys(schema.secrets.properties).filter((field) => isMarkedSecret(type, field)) : [];
  const pointers = [
    TYPE,
    ...[...known].flatMap(([pointer, isBound]) => (isBound ? [SETTINGS + pointer] : [])),
    ...secrets.map((field) => `${SECRETS}/${field}`),
  ];
  const config = effectiveConfig(schema, settings);

  function values(selected: readonly string[]): Map<string, string> {
    const included = new Set(selected);
    const found = new Map<string, string>();
    if (included.has(TYPE)) found.set(TYPE, JSON.stringify([type.kind, type.type_id]));
    // A hidden field is not sent anywhere, so it equals an absent one.
    for (const pointer of known.keys()) if (included.has(SETTINGS + pointer)) found.set(SETTINGS + pointer, 'null');
    for (const [pointer, value] of boundValues(schema, config, (_field, pointer) => included.has(SETTINGS + pointer)))
      if (value !== undefined) found.set(SETTINGS + pointer, JSON.stringify(value));
    for (const field of secrets) {
      const pointer = `${SECRETS}/${field}`;
      if (included.has(pointer)) found.set(pointer, JSON.stringify(marked?.get(field) ?? null));
    }
    return found;
  }

  return {
    pointers,
    values,
    text: () => JSON.stringify([...values(pointers)]),
    format1Text() {
      const raw = { settings: { ...settings }, secrets: {} };
      const bound = boundValues(schema, raw, (field) => field['x-destination'] === true);
      return JSON.stringify([type.kind, type.type_id, JSON.stringify(bound.map(([at, value]) => [at, value ?? null]))]);
    },
  };
}
