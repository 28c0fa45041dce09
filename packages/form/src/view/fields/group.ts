import { html } from 'lit/html.js';
import type { GroupField, VariantsField } from '../../model/field.js';
import { idOf } from '../focus.js';
import type { View } from '../view.js';
import { choice } from './choice.js';
import { shell } from './shell.js';

/** Renders related fields under one label. */
export function groupField(view: View, field: GroupField, path: string): unknown {
  const content = html`<div class="cf-nest">${field.fields.map((inner) => view.field(inner))}</div>`;
  return shell(view, field, path, () => content, { group: true });
}

/**
 * Renders the selector of a variant and the fields of the selected one, spaced like the surrounding
 * fields.
 */
export function variantsField(view: View, field: VariantsField, path: string): unknown {
  const at = `${path}/${field.discriminator}`;
  return view.fragment(at, () => {
    const chosen = field.variants.find(({ value }) => value === view.text(at));
    const help = chosen?.help ?? field.help;
    // If no variant is preselected, the user can go back to none.
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
