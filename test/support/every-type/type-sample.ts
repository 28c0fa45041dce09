import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectorTypeData, FieldSchema } from '@connector-frame/catalog';
import { isGroup, isList, isUnion, variantsOf } from '@connector-frame/catalog/validate';
import { kindOf } from './expected-form.js';

/** What a type shows that others may not: kinds of fields where they stand, and fragments its file takes. */
function featuresOf(type: ConnectorTypeData): Set<string> {
  const found = new Set<string>();
  const inside = (fields: Readonly<Record<string, FieldSchema>>, where: string): void => {
    for (const field of Object.values(fields)) {
      found.add(`${where} ${kindOf(field)}`);
      if (field['x-when']) found.add(`${where} condition`);
      if (isUnion(field)) for (const { body } of variantsOf(field)) inside(body?.properties ?? {}, 'inner');
      else if (isGroup(field)) inside(field.properties, 'inner');
      else if (isList(field) && isGroup(field.items)) inside(field.items.properties, 'row');
    }
  };
  inside(type.config.settings.properties, 'setting');
  inside(type.config.secrets.properties, 'secret');
  const file = new URL(`../../../packages/catalog/types/${type.kind}s/${type.type_id}.json`, import.meta.url);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/"\$ref": "([\w-]+)#/g)) found.add(`fragment ${name}`);
  return found;
}

/** A few of `all` that together have every feature that any of them has. */
export function covering<T>(all: readonly T[], features: (each: T) => Iterable<string>): Set<T> {
  const open = new Map(all.map((each) => [each, new Set(features(each))]));
  const chosen = new Set<T>();
  for (;;) {
    const [best, gains] = [...open].reduce((most, next) => (next[1].size > most[1].size ? next : most));
    if (gains.size === 0) return chosen;
    chosen.add(best);
    const covered = [...gains];
    for (const left of open.values()) for (const each of covered) left.delete(each);
  }
}

/** A few types that together have every kind of field and every fragment, and of the others one in `part`, chosen by `seed`. */
export function sampleOf(types: readonly ConnectorTypeData[], seed: string, part: number): ConnectorTypeData[] {
  const sample = covering(types, featuresOf);
  return types.filter((type) => {
    const hash = createHash('sha256').update(`${seed} ${type.kind} ${type.type_id}`).digest();
    return sample.has(type) || hash.readUInt32BE() % part === 0;
  });
}
