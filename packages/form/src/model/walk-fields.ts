import { getAt, isShown, joinPointer } from '@connector-frame/catalog/validate';
import type { Draft } from './draft.js';
import type { Field } from './field.js';

/** A field instance in the draft. */
export interface FieldInstance {
  field: Field;
  /** JSON Pointer into the draft, including row indexes. */
  path: string;
  /** Set for a cell of a map row, absent for the field itself. */
  cell?: 'key' | 'value';
  /** The enclosing list or map, and the row number in it, from 1. */
  list?: Field;
  row?: number;
}

/**
 * Yields the fields and their rows in display order.
 *
 * @param all whether to include fields that a condition hides and the bodies of variants that are
 *   not selected
 */
export function* walkFields(
  fields: readonly Field[],
  draft: Draft,
  all: boolean,
  parent = '',
  around: Pick<FieldInstance, 'list' | 'row'> = {},
): Generator<FieldInstance> {
  for (const field of fields) {
    if (!all && !isShown(field.when, draft)) continue;
    const path = parent + field.path;
    yield { field, path, ...around };
    if (field.kind === 'group') yield* walkFields(field.fields, draft, all, parent, around);
    if (field.kind === 'variants') {
      const choice = joinPointer(path, field.discriminator);
      yield { field, path: choice };
      const bodies = field.variants.filter(({ value }) => all || value === getAt(draft, choice));
      for (const body of bodies) yield* walkFields(body.fields, draft, all, parent, around);
    }
    const rows = getAt(draft, path);
    if (!Array.isArray(rows)) continue;
    for (const index of rows.keys()) {
      const at = `${path}/${index}`;
      const row = { list: field, row: index + 1 };
      if (field.kind === 'string-list') yield* walkFields([field.item], draft, all, at, row);
      else if (field.kind === 'object-list') yield* walkFields(field.columns, draft, all, at, row);
      else for (const cell of ['key', 'value'] as const) yield { field, path: `${at}/${cell}`, cell, ...row };
    }
  }
}
