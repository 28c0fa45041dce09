import { html, type Html } from '../html.js';
import type { Way } from './shell.js';
import { sourcePanel, type SourceFile } from './source-panel.js';

/** Beside the product: how the page is made, and what it hears from the form. */
export function aside(way: Way, files: readonly SourceFile[]): Html {
  return html`<aside class="aside">
    ${sourcePanel(files)}
    <section class="events" aria-labelledby="events-title">
      <div class="section-head">
        <h2 id="events-title">${way === 'html' ? 'States' : 'Events'}</h2>
        <p class="count">${way === 'html' ? 'read by the style sheet alone' : 'from the form to this page'}</p>
      </div>
      ${way === 'html' ? states : log}
    </section>
  </aside>`;
}

/** A page without a script hears nothing, yet its style sheet sees the element's states. */
const states = html`<ul class="states">
  ${['loading', 'ready', 'saved', 'error'].map((state) => html`<li data-state="${state}"><code>:state(${state})</code></li>`)}
</ul>`;

const log = html`<div class="events-list" role="log" aria-labelledby="events-title" tabindex="0">
    <ol id="events"></ol>
  </div>
  <p class="hint" id="look-hint" hidden>
    An open form keeps the look it was opened with. <button class="link" type="button">Reopen it</button>
  </p>`;
