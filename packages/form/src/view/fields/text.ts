import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { CronField, DateTimeField, NumberField, TextField } from '../../model/field.js';
import { bind, type Wiring } from '../control.js';
import type { View } from '../view.js';
import { shell } from './shell.js';

/** Options of a single-line text input. */
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

/**
 * Renders a single-line text input. Its type is always `text`: with `url` and `email`, the browser
 * may change what the user typed.
 */
export function line(view: View, path: string, wiring: Wiring, given: Line): TemplateResult {
  const { placeholder, format, mode } = given;
  // Only the connector's own name and description are prose; all other values are for machines.
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

/** Renders a text field: a URL, host, e-mail address or any other text. */
export function textField(view: View, field: TextField, path: string): unknown {
  return shell(view, field, path, (wiring) => line(view, path, wiring, field));
}

/**
 * Renders a number as a text input: the mouse wheel and arrow keys never change it, and an invalid
 * number stays for the user to correct.
 */
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

/** Renders a cron expression, with a description of its meaning. */
export function cronField(view: View, field: CronField, path: string): unknown {
  const hint = view.messages.cron(view.text(path));
  const help = field.help ?? (hint ? undefined : view.messages.cronHelp);
  return shell(view, help ? { ...field, help } : field, path, (wiring) => line(view, path, wiring, field), { hint });
}

/**
 * Renders a date and time. The user enters local time, the form stores UTC, and the hint shows
 * both.
 */
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

/**
 * Converts UTC to local time, `2026-11-12T08:30:00Z` -> `2026-11-12T09:30` in Berlin; returns `''`
 * for an invalid date.
 */
function toLocal(utc: string): string {
  const date = new Date(utc);
  const shifted = Number(date) - date.getTimezoneOffset() * 60_000;
  return shifted ? new Date(shifted).toISOString().replace(/(:00)?\.\d+Z$/, '') : '';
}

/**
 * Converts local time to UTC. The JavaScript engine decides on a local time that a daylight saving
 * change skips or repeats.
 */
function toUtc(local: string): string {
  return local && new Date(local).toISOString().replace('.000', '');
}
