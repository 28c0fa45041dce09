import type { Field } from './field.js';

/** A field, or the list around it, that appears or disappears with the value at `on`. */
export interface Dependent {
  on: string;
  path: string;
}

const childrenOf = (field: Field): readonly Field[] =>
  field.kind === 'group'
    ? field.fields
    : field.kind === 'variants'
      ? field.variants.flatMap(({ fields }) => fields)
      : [];

/** Every condition among the fields, read the other way round. */
export function dependentsOf(fields: readonly Field[]): Dependent[] {
  return fields.flatMap((field): Dependent[] => {
    const conditions = field.when ? [field.when, ...(field.when.and ?? [])] : [];
    const own = conditions.map(({ path: on }) => ({ on, path: field.path }));
    // A row's column has no pointer of its own: its list is told.
    const columns = field.kind === 'object-list' ? dependentsOf(field.columns) : [];
    return [...own, ...columns.map(({ on }) => ({ on, path: field.path })), ...dependentsOf(childrenOf(field))];
  });
}
