import { html, nothing } from 'lit/html.js';
import { focusPath } from '../focus.js';
import { icon } from '../icons.js';
import { ErrorSummary, type SummaryOptions } from '../protected/error-summary.js';
import type { View } from '../view.js';

customElements.define('cf-summary', ErrorSummary);

/** Renders the number of problems after a rejected save or test, and a link to each. */
export function summary({ form, messages }: View): unknown {
  if (!form.rejected) return nothing;
  const options: SummaryOptions = {
    messages,
    problems: form.summary,
    secrets: form.secretEntries(),
    onChoose: focusPath,
  };
  return html`<div class="cf-note cf-bad">
    ${icon('alert')}<cf-summary id="cf-summary" .options=${options}></cf-summary>
  </div>`;
}
