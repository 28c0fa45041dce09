import type { ConnectorConfigSchema, FieldSchema } from '@connector-frame/catalog/types';
import { isGroup, isList, isUnion, parsePointer, variantsOf } from '@connector-frame/catalog/validate';

function step(schema: FieldSchema, key: string): FieldSchema | undefined {
  if (isGroup(schema)) return Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  if (isUnion(schema)) return variantsOf(schema).find((variant) => variant.key === key)?.body;
  return isList(schema) ? schema.items : undefined;
}

/** The schema of the value at a pointer; undefined where there is none. */
export function schemaAt(config: ConnectorConfigSchema, path: string): FieldSchema | undefined {
  const [section, ...keys] = parsePointer(path);
  if (section !== 'settings' && section !== 'secrets') return undefined;
  const root: FieldSchema = { ...config[section], required: config[section].required ?? [] };
  return keys.reduce<FieldSchema | undefined>((schema, key) => schema && step(schema, key), root);
}
