import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { CronField, DateTimeField, NumberField, TextField } from '../../model/field.js';
import { bind, type Wiring } from '../control.js';
import type { View } from '../view.js';
import { shell } from './shell.js';

/** What a line of text is about. */
interface Line {
  name?: string;
  placeholder?: string;
  required?: boolean;
  format?: TextField['format'];
  mode?: 'numeric' | 'decimal';
}

const keyboards: Partial<Record<NonNullable<TextField['format']>, string>> = {
  uri: 'url',
  hostname: 'url',
  'host-port': 'url',
  email: 'email',
};

/** One line of text. The type stays `text`: `url` and `email` would let the browser change what was typed. */
export function line(view: View, path: string, wiring: Wiring, given: Line): TemplateResult {
  const { placeholder, format, mode } = given;
  // The connector's own name and description are words of people; everything else is a machine's.
  const prose = path.lastIndexOf('/') === 0;
  return html`<input
    class="cf-input"
    type="text"
    inputmode=${mode ?? (format && keyboards[format]) ?? nothing}
    autocomplete="off"
    autocapitalize=${prose ? nothing : 'none'}
    spellcheck=${prose ? nothing : 'false'}
    dir=${mode ? nothing : 'auto'}
    placeholder=${placeholder ?? nothing}
    ${bind(view, path, wiring, given)}
  />`;
}

/** One line of text: address, host, e-mail, or anything. */
export function textField(view: View, field: TextField, path: string): unknown {
  return shell(view, field, path, (wiring) => line(view, path, wiring, field));
}

/** A number as text: a wheel or a stray arrow key never changes it, and what is no number stays there to be corrected. */
export function numberField(view: View, field: NumberField, path: string): unknown {
  const { integer, minimum = -1, maximum, unit } = field;
  const mode = integer && minimum >= 0 ? 'numeric' : 'decimal';
  const help = field.help ?? view.messages.bounds(field.minimum, maximum);
  return shell(
    view,
    help ? { ...field, help } : field,
    path,
    (wiring) =>
      html`<div class="cf-affixed">
        ${line(view, path, wiring, { ...field, mode })}${unit ? html`<span class="cf-affix">${unit}</span>` : nothing}
      </div>`,
  );
}

/** Five cron fields, and in words what they say. */
export function cronField(view: View, field: CronField, path: string): unknown {
  const hint = view.messages.cron(view.text(path));
  const help = field.help ?? (hint ? undefined : view.messages.cronHelp);
  return shell(view, help ? { ...field, help } : field, path, (wiring) => line(view, path, wiring, field), { hint });
}

/** A moment, entered on the person's own clock and kept in UTC; both are said. */
export function dateTimeField(view: View, field: DateTimeField, path: string): unknown {
  const kept = view.text(path);
  const value = toLocal(kept);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return shell(
    view,
    field,
    path,
    (wiring) =>
      html`<input
        class="cf-input"
        type="datetime-local"
        ?data-empty=${!value}
        ${bind(view, path, wiring, { required: field.required, value, store: toUtc })}
      />`,
    { hint: view.messages.localTime(timeZone, value && kept) },
  );
}

/** `2026-11-12T08:30:00Z` -> `2026-11-12T09:30` in Berlin; `''` for what is no date. */
function toLocal(utc: string): string {
  const date = new Date(utc);
  const shifted = Number(date) - date.getTimezoneOffset() * 60_000;
  return shifted ? new Date(shifted).toISOString().replace(/(:00)?\.\d+Z$/, '') : '';
}

/** The way back. A local time that a change of clocks leaves out or repeats is taken as the engine takes it. */
function toUtc(local: string): string {
  return local && new Date(local).toISOString().replace('.000', '');
}
