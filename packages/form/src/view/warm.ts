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
 * Paints the usual fields where nobody sees them, while the type is on its way: what the browser does once for each template
 * is then done before anyone waits for it.
 */
export function warm(view: View): void {
  for (const field of usual) render(fieldTemplate(view, field, ''), document.createElement('div'));
}
