import { html } from 'lit/html.js';
import type { GroupField, VariantsField } from '../../model/field.js';
import { idOf } from '../focus.js';
import type { View } from '../view.js';
import { choice } from './choice.js';
import { shell } from './shell.js';

/** Fields that belong together, under one name. */
export function groupField(view: View, field: GroupField, path: string): unknown {
  const content = html`<div class="cf-nest">${field.fields.map((inner) => view.field(inner))}</div>`;
  return shell(view, field, path, () => content, { group: true });
}

/** A choice, and the fields of what is chosen, in the rhythm of the fields around. */
export function variantsField(view: View, field: VariantsField, path: string): unknown {
  const at = `${path}/${field.discriminator}`;
  return view.island(at, () => {
    const chosen = field.variants.find(({ value }) => value === view.text(at));
    const help = chosen?.help ?? field.help;
    // Where none was chosen for them, a person can go back to none.
    const of = {
      ...field,
      ...(help && { help }),
      options: field.variants,
      required: field.required || field.initial !== undefined,
    };
    return html`<div class="cf-nest" id=${idOf(path)}>
      ${shell(view, of, at, (wiring) => choice(view, at, of, wiring))}
      ${chosen?.fields.map((inner) => view.field(inner))}
    </div>`;
  });
}
