import { html, nothing } from 'lit/html.js';
import type { MultilineField } from '../../model/field.js';
import { bind } from '../control.js';
import type { View } from '../view.js';
import { fromFile } from './file.js';
import { shell } from './shell.js';

/** Renders multi-line text; a JSON or PEM document can be read from a file. */
export function multilineField(view: View, field: MultilineField, path: string): unknown {
  const { format: shape, placeholder } = field;
  return shell(view, field, path, (wiring) => {
    const area = html`<textarea
      class="cf-input cf-area cf-area-${shape}"
      rows="4"
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
      dir="auto"
      placeholder=${placeholder ?? nothing}
      ${bind(view, path, wiring, field)}
    ></textarea>`;
    return shape === 'multiline' ? area : fromFile(view, path, { ...field, shape }, area);
  });
}
