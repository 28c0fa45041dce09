import { render } from 'lit/html.js';
import type { Field } from '../model/field.js';
import { fieldTemplate } from './fields/field.js';
import type { View } from './view.js';

const common = {
  path: '',
  key: '',
  label: ' ',
  help: ' ',
  required: true,
  advanced: false,
  deprecated: false,
  destination: false,
};

const options = Array.from({ length: 4 }, () => ({ value: '', label: '' }));

const usual: readonly Field[] = [
  { ...common, kind: 'text' },
  { ...common, kind: 'boolean' },
  { ...common, kind: 'enum', options },
  { ...common, kind: 'secret', shape: 'line' },
];

/**
 * Prerenders the most common fields into detached elements while the type is loading, so that the
 * one-time work of the browser for each template is done before the user waits for it.
 */
export function prerender(view: View): void {
  for (const field of usual) render(fieldTemplate(view, field, ''), document.createElement('div'));
}
