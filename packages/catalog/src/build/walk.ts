import type { ConnectorTypeData, FieldSchema, ObjectSchema, SecretsSchema } from '../types.js';
import { joinPointer } from '../validate/pointer.js';
import { discriminatorOf, isGroup, isList, isMap, isUnion } from '../validate/schema.js';

/** A condition that must hold for a field to exist. */
export interface Guard {
  path: string;
  in: readonly (string | number | boolean)[];
}

/** A field of a type, at any depth. */
export interface VisitedField {
  /** JSON Pointer inside the type file. */
  pointer: string;
  /** JSON Pointer from the config, as conditions and errors use it; `*` stands for a row. */
  path: string;
  field: FieldSchema;
  required: boolean;
  secret: boolean;
  /** Inside a list or map: there may be any number of instances. */
  inRow: boolean;
  depth: number;
  /** Choices and conditions of the ancestors, and the condition of the field itself. */
  guards: readonly Guard[];
}

type Above = Omit<VisitedField, 'field' | 'required'>;

function* visit(field: FieldSchema, required: boolean, above: Above): Generator<VisitedField> {
  const when = field['x-when'];
  const guards = [...above.guards, ...(when ? [when, ...(when.and ?? [])] : [])];
  const here: Above = { ...above, guards };
  yield { ...here, field, required };
  const row = { ...here, path: `${here.path}/*`, inRow: true, depth: here.depth + 1 };
  if (isList(field)) yield* visit(field.items, false, { ...row, pointer: `${here.pointer}/items` });
  else if (isMap(field))
    yield* visit(field.additionalProperties, true, { ...row, pointer: `${here.pointer}/additionalProperties` });
  else if (isGroup(field)) yield* group(field, here);
  else if (isUnion(field)) {
    const discriminator = discriminatorOf(field);
    for (const [index, variant] of field.oneOf.entries()) {
      const constant = variant.properties[discriminator];
      if (!constant || !('const' in constant)) continue;
      const guard = { path: joinPointer(here.path, discriminator), in: [constant.const] };
      for (const [key, body] of Object.entries(variant.properties))
        if (!('const' in body))
          yield* group(body, {
            ...here,
            pointer: `${here.pointer}/oneOf/${String(index)}/properties/${key}`,
            path: joinPointer(here.path, key),
            depth: here.depth + 1,
            guards: [...guards, guard],
          });
    }
  }
}

function* group(schema: ObjectSchema | SecretsSchema, above: Above): Generator<VisitedField> {
  for (const [key, field] of Object.entries(schema.properties))
    yield* visit(field, schema.required?.includes(key) === true, {
      ...above,
      pointer: `${above.pointer}/properties/${key}`,
      path: joinPointer(above.path, key),
      depth: above.depth + 1,
    });
}

const sectionOf = (name: 'settings' | 'secrets'): Above => ({
  pointer: `/config/${name}`,
  path: `/${name}`,
  secret: name === 'secrets',
  inRow: false,
  depth: 0,
  guards: [],
});

/**
 * Returns every field of a type: settings before secrets, and each field before those inside it.
 */
export const fieldsOf = ({ config }: ConnectorTypeData): VisitedField[] => [
  ...group(config.settings, sectionOf('settings')),
  ...group(config.secrets, sectionOf('secrets')),
];
