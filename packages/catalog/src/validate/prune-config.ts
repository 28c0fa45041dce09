import type { ConnectorConfig, ConnectorConfigSchema, FieldSchema, ObjectSchema, SecretsSchema } from '../types.js';
import { isShown } from './is-shown.js';
import { isEmpty, isPlain, isSafeKey, own, type Plain } from './objects.js';
import { chosenOf, discriminatorOf, isGroup, isList, isMap, isUnion } from './schema.js';

const without = (entries: readonly (readonly [string, unknown])[]): Plain =>
  Object.fromEntries(entries.filter(([key, value]) => isSafeKey(key) && !isEmpty(value)));

/**
 * Returns one value as it is stored, or undefined if nothing of it is. Returns a value of the wrong
 * type unchanged.
 */
export function pruneValue(schema: FieldSchema, value: unknown, config: ConnectorConfig): unknown {
  if (isEmpty(value)) return undefined;
  if (isList(schema))
    return Array.isArray(value)
      ? value.map((row) => pruneValue(schema.items, row, config)).filter((row) => !isEmpty(row))
      : value;
  if (schema.type !== 'object' || !isPlain(value)) return value;
  if (isMap(schema))
    return without(
      Object.keys(value)
        .sort()
        .map((key) => [key, value[key]]),
    );
  if (isGroup(schema)) return pruneGroup(schema, value, config);
  if (!isUnion(schema)) return value;
  const discriminator = discriminatorOf(schema);
  const { key, body } = chosenOf(schema, value) ?? {};
  return without([
    [discriminator, own(value, discriminator)],
    ...(key !== undefined && body ? [[key, pruneValue(body, own(value, key), config)] as const] : []),
  ]);
}

const pruneGroup = (schema: ObjectSchema | SecretsSchema, value: unknown, config: ConnectorConfig): Plain =>
  without(
    Object.entries(schema.properties)
      .filter(([, field]) => isShown(field['x-when'], config))
      .map(([key, field]) => [key, pruneValue(field, own(value, key), config)]),
  );

/**
 * Returns the configuration as it is stored and sent: only declared fields that are shown, only the
 * body of the selected variant, and nothing empty. Keys are in declaration order, keys of a map
 * sorted. Idempotent.
 */
export const pruneConfig = (schema: ConnectorConfigSchema, config: ConnectorConfig): ConnectorConfig => ({
  settings: pruneGroup(schema.settings, own(config, 'settings'), config),
  secrets: pruneGroup(schema.secrets, own(config, 'secrets'), config),
});
