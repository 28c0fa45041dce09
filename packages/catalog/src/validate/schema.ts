/** Type guards for the kinds of field schema. */
import type { ArraySchema, FieldSchema, MapSchema, ObjectSchema, UnionSchema } from '../types.js';
import { own } from './objects.js';

export const isUnion = (schema: FieldSchema): schema is UnionSchema => 'oneOf' in schema;

export const isMap = (schema: FieldSchema): schema is MapSchema =>
  'additionalProperties' in schema && schema.additionalProperties !== false;

export const isGroup = (schema: FieldSchema): schema is ObjectSchema => 'properties' in schema;

export const isList = (schema: FieldSchema): schema is ArraySchema => schema.type === 'array';

/**
 * One choice of a union: its discriminator value, its texts, and the object that holds its fields,
 * if any.
 */
export interface Variant {
  value: string;
  title: string;
  description?: string;
  /** Key of the object beside the discriminator. Absent if the choice has no fields. */
  key?: string;
  body?: ObjectSchema;
}

/** Returns the key of the property that names the choice: the one with a `const`. */
export function discriminatorOf(union: UnionSchema): string {
  for (const [key, schema] of Object.entries(union.oneOf[0]?.properties ?? {})) if ('const' in schema) return key;
  return '';
}

/** Returns the choices of a union, in declaration order. */
export const variantsOf = (union: UnionSchema): Variant[] =>
  union.oneOf.map(({ title, description, properties }) => {
    const variant: Variant = { value: '', title, ...(description === undefined ? {} : { description }) };
    for (const [key, schema] of Object.entries(properties)) {
      if ('const' in schema) variant.value = schema.const;
      else Object.assign(variant, { key, body: schema });
    }
    return variant;
  });

/**
 * Returns the choice that a union value selects, or undefined if it selects none, or an unknown
 * one.
 */
export const chosenOf = (union: UnionSchema, value: unknown): Variant | undefined => {
  const chosen = own(value, discriminatorOf(union));
  return variantsOf(union).find((variant) => variant.value === chosen);
};
