import type { ConnectorConfig, ConnectorConfigSchema, FieldSchema, ObjectSchema } from '../types.js';
import { withDefaults } from './defaults.js';
import { isShown } from './is-shown.js';
import { own } from './objects.js';
import { joinPointer } from './pointer.js';
import { pruneConfig, pruneValue } from './prune-config.js';
import { chosenOf, discriminatorOf, isGroup, isUnion } from './schema.js';

/** Returns whether a field decides where or how the secrets of its connector are sent. */
export const isMarked = (field: FieldSchema): boolean =>
  field['x-destination'] === true || field['x-transport'] === true;

/**
 * Returns the values of the shown fields that `isBound` selects, by pointer from the settings, in
 * declaration order. A union contributes only its choice; a list, map or group contributes its
 * whole value. Reads `config` as it is, without filling in defaults.
 *
 * @param isBound receives the field and its pointer; a union has the pointer of its discriminator
 */
export function boundValues(
  schema: ConnectorConfigSchema,
  config: ConnectorConfig,
  isBound: (field: FieldSchema, pointer: string) => boolean = isMarked,
): [pointer: string, value: unknown][] {
  const found: [string, unknown][] = [];

  const group = (rules: ObjectSchema, value: unknown, path: string): void => {
    for (const [key, field] of Object.entries(rules.properties))
      if (isShown(field['x-when'], config)) visit(field, own(value, key), joinPointer(path, key));
  };

  const visit = (rules: FieldSchema, value: unknown, path: string): void => {
    if (isUnion(rules)) {
      const discriminator = discriminatorOf(rules);
      const choice = joinPointer(path, discriminator);
      const chosen = chosenOf(rules, value);
      if (isBound(rules, choice)) found.push([choice, own(value, discriminator)]);
      if (chosen?.key !== undefined && chosen.body)
        group(chosen.body, own(value, chosen.key), joinPointer(path, chosen.key));
    } else if (isBound(rules, path)) found.push([path, pruneValue(rules, value, config)]);
    else if (isGroup(rules)) group(rules, value, path);
  };

  group(schema.settings, config.settings, '');
  return found;
}

/**
 * Returns the effective configuration of stored settings: drops fields that are hidden with the
 * defaults of absent ones, then fills in the defaults.
 */
export const effectiveConfig = (
  schema: ConnectorConfigSchema,
  settings: Readonly<Record<string, unknown>>,
): ConnectorConfig => withDefaults(schema, pruneConfig(schema, withDefaults(schema, { settings })));

/**
 * Returns a canonical string for where and how the secrets of a connector are sent: the values of
 * all shown fields marked `x-destination` or `x-transport`. Equal strings mean the same destination
 * over the same transport. An absent field equals one that holds its default.
 *
 * @example
 * ```ts
 * const isMoved = destinationOf(schema, next) !== destinationOf(schema, stored);
 * ```
 */
export const destinationOf = (schema: ConnectorConfigSchema, settings: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(boundValues(schema, effectiveConfig(schema, settings)).filter(([, value]) => value !== undefined));
