import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { Field } from '../../model/field.js';
import type { Wiring } from '../control.js';
import { idOf } from '../focus.js';
import { alertIcon } from '../icons.js';
import type { View } from '../view.js';

interface ShellOptions {
  /** A line about the value itself: what a cron expression means, which zone a time is in. */
  hint?: string | undefined;
  /** What the label names: one control by its id, one that points back at the label, or the whole field as a group. */
  names?: 'control' | 'pointer' | 'group';
}

/** The contract of every field: label, "Optional", control, help or error. A group's help stands above what it is about. */
export function shell(
  view: View,
  field: Field,
  path: string,
  control: (wiring: Wiring) => unknown,
  { hint, names = 'control' }: ShellOptions = {},
): TemplateResult {
  const { messages: m } = view;
  const id = idOf(path);
  const remark = view.remark(path);
  const error = view.form.error(path) ?? (remark?.bad ? remark.text : undefined);
  const about = remark && !remark.bad ? remark.text : hint;
  const texts = [about, error ?? field.help];
  const describedBy = texts
    .map((text, line) => text && `${id}-${line}`)
    .filter(Boolean)
    .join(' ');
  const wiring = {
    id,
    labelId: `${id}-label`,
    describedBy,
    description: texts.filter(Boolean).join('. '),
    invalid: !!error,
  };
  const group = names === 'group';
  const lines = [note(`${id}-0`, about), note(`${id}-1`, texts[1], error !== undefined)];
  const aside = field.deprecated ? m.deprecated : field.required || field.kind === 'boolean' ? nothing : m.optional;
  return html`<div
    class="cf-field cf-${field.kind}"
    id=${group ? id : nothing}
    role=${group ? 'group' : nothing}
    aria-labelledby=${group ? wiring.labelId : nothing}
    aria-describedby=${(group && describedBy) || nothing}
  >
    <div class="cf-head">
      ${
        names === 'control'
          ? html`<label class="cf-label" for=${id}>${field.label}</label>`
          : html`<span class="cf-label" id=${wiring.labelId}>${field.label}</span>`
      }
      <span class="cf-aside">${aside}</span>
    </div>
    ${group ? lines : nothing}${control(wiring)}${group ? nothing : lines}
  </div>`;
}

/** A line of help, or of an error with its icon. */
export function note(id: string, text: string | undefined, bad = false): unknown {
  if (!text) return nothing;
  return html`<p class=${bad ? 'cf-help cf-error' : 'cf-help'} id=${id}>
    ${bad ? alertIcon : nothing}<span>${text}</span>
  </p>`;
}
