import { getAt, isShown } from '@connector-frame/catalog/validate';
import type { Field } from './field.js';

/** A field where it stands now: `path` is its own, also inside a list's row. */
export interface Standing {
  field: Field;
  path: string;
}

/**
 * The fields that count now, in the order shown: not those of conditions that do not hold, nor the bodies of choices not made. Lists come
 * after nothing of their own but before their rows.
 */
export function* walkFields(fields: readonly Field[], draft: object, parent = ''): Generator<Standing> {
  for (const field of fields) {
    const path = parent + field.path;
    if (!isShown(field.when, draft as Parameters<typeof isShown>[1])) continue;
    yield { field, path };
    if (field.kind === 'group') yield* walkFields(field.fields, draft, parent);
    else if (field.kind === 'variants') {
      const chosen = getAt(draft, `${path}/${field.discriminator}`);
      yield* walkFields(field.variants.find(({ value }) => value === chosen)?.fields ?? [], draft, parent);
    } else if (field.kind === 'string-list' || field.kind === 'object-list') {
      const columns = field.kind === 'string-list' ? [field.item] : field.columns;
      const rows = getAt(draft, path);
      if (Array.isArray(rows)) for (const index of rows.keys()) yield* walkFields(columns, draft, `${path}/${index}`);
    }
  }
}
