import { html, type Html } from './html.js';

/** A text field of a form. */
export interface Field {
  name: string;
  label: string;
  type?: 'email' | 'password' | 'text';
  value?: string | undefined;
  autocomplete: string;
  inputmode?: 'numeric' | 'email';
  help?: string;
  /** What is wrong with the value, as a sentence. */
  error?: string | undefined;
  autofocus?: boolean;
  maxlength?: number;
}

/** Returns a field with its label, help and error. */
export function field(given: Field) {
  const { name, label, type = 'text', value = '', autocomplete, inputmode, help, error } = given;
  const described = [help === undefined ? '' : `${name}-help`, error === undefined ? '' : `${name}-error`];
  const ids = described.filter((id) => id !== '').join(' ');
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      autocomplete="${autocomplete}"
      maxlength="${given.maxlength ?? 254}"
      required
      ${inputmode === undefined ? '' : html`inputmode="${inputmode}"`}
      ${ids === '' ? '' : html`aria-describedby="${ids}"`}
      ${error === undefined ? '' : html`aria-invalid="true"`}
      ${given.autofocus === true ? html`autofocus` : ''}
      ${type === 'email' || autocomplete === 'one-time-code' ? html`autocapitalize="none" spellcheck="false"` : ''}
    />
    ${help === undefined ? '' : html`<p class="help" id="${name}-help">${help}</p>`}
    ${error === undefined ? '' : html`<p class="error" id="${name}-error">${error}</p>`}
  </div>`;
}

/** Returns a form of this sign-in. */
export const form = (action: string, csrf: string, content: Html | Promise<Html>) =>
  html`<form method="post" action="${action}">
    <input type="hidden" name="csrf" value="${csrf}" />
    ${content}
  </form>`;

/** Returns a message about the whole page. */
export const note = (text: string | undefined) =>
  text === undefined ? '' : html`<p class="note" role="alert">${text}</p>`;
