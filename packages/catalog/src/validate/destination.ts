import type { ConnectorConfigSchema, FieldSchema, ObjectSchema } from '../types.js';
import { isShown } from './is-shown.js';
import { own } from './objects.js';
import { joinPointer } from './pointer.js';
import { pruneValue } from './prune-config.js';
import { chosenOf, discriminatorOf, isGroup, isList, isUnion } from './schema.js';

/**
 * Where the secrets of a connector are sent, as one canonical text: the values of all shown fields marked `x-destination`, in
 * the order declared, with those inside the choices made. On a union the mark stands for the choice alone; on a list, map or
 * group for all of it. Equal texts, same destination.
 */
export function destinationOf(schema: ConnectorConfigSchema, settings: Readonly<Record<string, unknown>>): string {
  const config = { settings, secrets: {} };
  const found: [path: string, value: unknown][] = [];

  const group = (rules: ObjectSchema, value: unknown, path: string): void => {
    for (const [key, field] of Object.entries(rules.properties))
      if (isShown(field['x-when'], config)) visit(field, own(value, key), joinPointer(path, key));
  };

  const visit = (rules: FieldSchema, value: unknown, path: string): void => {
    const marked = rules['x-destination'] === true;
    if (isUnion(rules)) {
      const chosen = chosenOf(rules, value);
      if (marked) found.push([joinPointer(path, discriminatorOf(rules)), chosen?.value ?? null]);
      if (chosen?.key !== undefined && chosen.body)
        group(chosen.body, own(value, chosen.key), joinPointer(path, chosen.key));
    } else if (marked) found.push([path, pruneValue(rules, value, config) ?? null]);
    else if (isGroup(rules)) group(rules, value, path);
    else if (isList(rules) && Array.isArray(value))
      value.forEach((row, index) => visit(rules.items, row, joinPointer(path, index)));
  };

  group(schema.settings, settings, '');
  return JSON.stringify(found);
}
