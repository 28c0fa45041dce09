import type { Field } from './field.js';

/** What stands at a pointer: a field, or a cell of a map's row. `row` is the number, from 1, of the list row around it. */
export interface Found {
  field: Field;
  cell?: 'key' | 'value';
  row?: number;
  /** The list around it. */
  list?: Field;
}

const ROW = /^\/(\d+)(\/.*)?$/;

function inside(field: Field, rest: string): Found | undefined {
  switch (field.kind) {
    case 'group':
      return findField(field.fields, field.path + rest);
    case 'variants':
      if (rest === `/${field.discriminator}`) return { field };
      return findField(
        field.variants.flatMap(({ fields }) => fields),
        field.path + rest,
      );
    case 'string-list':
    case 'object-list':
    case 'map':
    case 'secret': {
      const [, index, tail = ''] = ROW.exec(rest) ?? [];
      if (index === undefined) return undefined;
      const row = Number(index) + 1;
      if (field.kind === 'string-list') return tail === '' ? { field: field.item, row, list: field } : undefined;
      if (field.kind === 'object-list') {
        const found = findField(field.columns, tail);
        return found && { row, list: field, ...found };
      }
      return { field, row, ...((tail === '/key' || tail === '/value') && { cell: tail === '/key' ? 'key' : 'value' }) };
    }
    default:
      return undefined;
  }
}

/** The field at a pointer, however deep. */
export function findField(fields: readonly Field[], path: string): Found | undefined {
  for (const field of fields) {
    if (field.path === path) return { field };
    if (path.startsWith(`${field.path}/`)) {
      const found = inside(field, path.slice(field.path.length));
      if (found) return found;
    }
  }
  return undefined;
}
