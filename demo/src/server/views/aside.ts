import { html, type Html } from '../html.js';
import type { Way } from './shell.js';
import { sourcePanel, type SourceFile } from './source-panel.js';

/** Renders the column beside the product: source files, and the events of the form. */
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

/**
 * The HTML page has no script to receive events; its style sheet matches the custom states of the
 * element.
 */
const states = html`<ul class="states">
  ${['loading', 'ready', 'saved', 'error'].map((state) => html`<li data-state="${state}"><code>:state(${state})</code></li>`)}
</ul>`;

const log = html`<div class="events-list" role="log" aria-labelledby="events-title" tabindex="0">
    <ol id="events"></ol>
  </div>
  <p class="hint" id="look-hint" hidden>
    An open form keeps the look it was opened with. <button class="link" type="button">Reopen it</button>
  </p>`;
