import { getAt, isShown, joinPointer } from '@connector-frame/catalog/validate';
import type { Draft } from './draft.js';
import type { Field } from './field.js';

/** A field where it stands in the draft. */
export interface Standing {
  field: Field;
  /** Its pointer, also inside a list's row. */
  path: string;
  /** One cell of a map's row, instead of the whole. */
  cell?: 'key' | 'value';
  /** The list or map around it, and the number of its row, from 1. */
  list?: Field;
  row?: number;
}

/**
 * The fields and their rows, in the order shown: all of them, or only those that count now, without what a condition hides and
 * the bodies of choices not made.
 */
export function* walkFields(
  fields: readonly Field[],
  draft: Draft,
  all: boolean,
  parent = '',
  around: Pick<Standing, 'list' | 'row'> = {},
): Generator<Standing> {
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
