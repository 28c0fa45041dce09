import type { SecretOptions } from './secret-template.js';

/** The control that contains the value of a secret. Its text is drawn elsewhere (`SecretScreen`). */
export type NativeControl = HTMLInputElement | HTMLTextAreaElement;

/**
 * The control is laid out `SCALE` times as large and scaled back, so that the one pixel in which
 * its caret moves is not measurable on screen. The rest of its box is border, which receives
 * clicks, drops and the context menu.
 */
const SCALE = 1000;

/** Padding beside the text, in CSS pixels. */
const INSET = 12;

/** Each password manager has its own opt-out attribute. */
const attributes = {
  class: 'control',
  dir: 'ltr',
  autocomplete: 'off',
  autocapitalize: 'none',
  autocorrect: 'off',
  spellcheck: 'false',
  'data-1p-ignore': '',
  'data-lpignore': 'true',
  'data-bwignore': '',
  'data-form-type': 'other',
  'aria-describedby': 'note sent about',
};

/** Creates the control. */
export function createNativeControl(multiline: boolean): NativeControl {
  const control = document.createElement(multiline ? 'textarea' : 'input');
  for (const [name, text] of Object.entries(attributes)) control.setAttribute(name, text);
  if (control instanceof HTMLTextAreaElement) control.wrap = 'off';
  return control;
}

/** Sets the accessible name, states and placeholder of the control. */
export function describeNativeControl(control: NativeControl, options: SecretOptions): void {
  const { note } = options;
  const states = {
    'aria-label': options.label,
    'aria-required': String(options.required ?? false),
    'aria-invalid': String(note?.bad ?? false),
  };
  for (const [name, text] of Object.entries(states)) control.setAttribute(name, text);
  if (options.placeholder) control.placeholder = options.placeholder;
  else control.removeAttribute('placeholder');
}

/** Lays the control out so that it covers a box of this size, in CSS pixels. */
export function sizeNativeControl(control: NativeControl, width: number, height: number): void {
  // The content is one pixel wide and one line high; the rest of the box is border.
  const { style } = control;
  const line = control instanceof HTMLTextAreaElement ? 20 : SCALE;
  style.height = `${line}px`;
  style.borderWidth = `0 ${SCALE * (width - INSET) - 1}px ${SCALE * height - line}px ${SCALE * INSET}px`;
}
