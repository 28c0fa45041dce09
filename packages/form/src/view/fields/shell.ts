import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Field } from '../../model/field.js';
import type { Wiring } from '../control.js';
import { idOf } from '../focus.js';
import { icon } from '../icons.js';
import type { View } from '../view.js';

interface ShellOptions {
  /** A note about the value: the meaning of a cron expression, the time zone of a time. */
  hint?: string | undefined;
  /** Whether the label names the field as a group. The notes of a group are above its controls. */
  group?: boolean;
}

/**
 * Renders the common structure of a field: label, "Optional", control, and below it the error, the
 * hint and the help, in the order in which they describe the control.
 */
export function shell(
  view: View,
  field: Field,
  path: string,
  control: (wiring: Wiring) => unknown,
  { hint, group = false }: ShellOptions = {},
): TemplateResult {
  const id = idOf(path);
  const remark = view.remarks.get(path);
  const error = view.form.error(path) ?? (remark?.bad ? remark.text : undefined);
  const texts = [error, remark?.bad ? hint : (remark?.text ?? hint), field.help];
  const ids = texts
    .map((text, index) => text && noteId(id, index))
    .filter(Boolean)
    .join(' ');
  const lines = texts.map((text, index) => note(noteId(id, index), text, index === 0));
  const wiring = { id, describedBy: ids, invalid: error !== undefined };
  const head = fieldHead(view, field, id, group);
  const kind = `cf-field cf-${field.kind}`;
  if (!group) return html`<div class=${kind}>${head}${control(wiring)}${lines}</div>`;
  return html`<div class=${kind} id=${id} role="group" aria-labelledby="${id}-label" aria-describedby=${ids || nothing}>
    ${head}${lines}${control(wiring)}
  </div>`;
}

/** Renders the label, of a group or of the control `id`, and "Optional". */
export function fieldHead({ messages: m }: View, field: Field, id: string, group: boolean): TemplateResult {
  const aside = field.deprecated ? m.deprecated : field.required || field.kind === 'boolean' ? nothing : m.optional;
  return html`<div class="cf-head">
    <label class="cf-label" id="${id}-label" for=${group ? nothing : id}>${field.label}</label>
    <span class="cf-aside">${aside}</span>
  </div>`;
}

/** Returns the element id of a field's error, or of its hint or help. */
export const noteId = (id: string, index = 0): string => `${id}-${index}`;

/** Renders a line of help, or of an error with its icon. */
export function note(id: string, text: string | undefined, bad: boolean): unknown {
  if (!text) return nothing;
  return html`<p class="cf-help ${bad ? 'cf-error' : ''}" id=${id}>
    ${bad ? icon('alert') : nothing}<span>${text}</span>
  </p>`;
}
