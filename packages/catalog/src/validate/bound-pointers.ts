import type { ConnectorConfigSchema, FieldSchema, ObjectSchema } from '../types.js';
import { isMarked } from './destination.js';
import { joinPointer } from './pointer.js';
import { discriminatorOf, isGroup, isUnion, variantsOf } from './schema.js';

/**
 * Returns every pointer that `boundValues` passes to `isBound`, whether shown or hidden, and
 * whether its field is marked. A field inside a marked group counts as not marked, because the
 * group represents it.
 */
export function boundPointers(schema: ConnectorConfigSchema): Map<string, boolean> {
  const pointers = new Map<string, boolean>();

  const group = (rules: ObjectSchema, path: string, within: boolean): void => {
    for (const [key, field] of Object.entries(rules.properties)) visit(field, joinPointer(path, key), within);
  };

  const visit = (rules: FieldSchema, path: string, within: boolean): void => {
    const marked = isMarked(rules) && !within;
    if (isUnion(rules)) {
      pointers.set(joinPointer(path, discriminatorOf(rules)), marked);
      for (const { key, body } of variantsOf(rules))
        if (key !== undefined && body) group(body, joinPointer(path, key), within);
      return;
    }
    pointers.set(path, marked);
    if (isGroup(rules)) group(rules, path, within || marked);
  };

  group(schema.settings, '', false);
  return pointers;
}
