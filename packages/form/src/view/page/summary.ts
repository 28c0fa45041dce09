import { html, nothing } from 'lit/html.js';
import { focusPath, idOf } from '../focus.js';
import type { View } from '../view.js';
import { note } from './note.js';

/** After a refused save: how many things to fix, and a link to each. */
export function summary({ form, messages: m }: View): unknown {
  const issues = form.summary;
  if (!issues.length) return nothing;
  const detail = issues.map(({ path, label }, index) => {
    const go = (event: Event): void => {
      // The frame's address stays as it is, and with it the history of the page around.
      event.preventDefault();
      focusPath(path);
    };
    return html`${index ? ', ' : ''}<a href="#${idOf(path)}" @click=${go}>${label}</a>`;
  });
  return note({ title: m.summary(issues.length), detail, id: 'cf-summary', role: 'group' });
}
