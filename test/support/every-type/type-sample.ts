import { createHash } from 'node:crypto';
import type { ConnectorTypeData, FieldSchema } from '@connector-frame/catalog';
import { isGroup, isList, isUnion, variantsOf } from '@connector-frame/catalog/validate';
import { kindOf } from './expected-form.js';

/** Returns the features of a type: kinds of fields by position. */
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
  return found;
}

/** Returns a small subset of `all` that together has every feature of any item. */
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

/**
 * Returns types that together have every kind of field, plus one in `oneIn` of the others, chosen by
 * `seed`: a greater number is a smaller sample.
 * @param coveringOneIn takes only one in so many of the former, too; all of them over some seeds
 */
export function sampleOf(
  types: readonly ConnectorTypeData[],
  { seed, oneIn, coveringOneIn = 1 }: { seed: string; oneIn: number; coveringOneIn?: number },
): ConnectorTypeData[] {
  const sample = covering(types, featuresOf);
  return types.filter((type) => {
    const hash = createHash('sha256').update(`${seed} ${type.kind} ${type.type_id}`).digest();
    return hash.readUInt32BE() % (sample.has(type) ? coveringOneIn : oneIn) === 0;
  });
}
