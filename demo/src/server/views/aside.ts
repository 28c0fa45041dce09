import { html, type Html } from '../html.js';
import type { Embedding } from './shell.js';
import { sourcePanel, type SourceFile } from './source-panel.js';

/** Renders the column beside the product: source files, and the events of the form. */
export function aside(embedding: Embedding, files: readonly SourceFile[]): Html {
  return html`<aside class="aside">
    ${sourcePanel(files)}
    <section class="events" aria-labelledby="events-title">
      <div class="section-head">
        <h2 id="events-title">${embedding === 'html' ? 'States' : 'Events'}</h2>
        <p class="count">${embedding === 'html' ? 'matched by the style sheet' : 'from the form to this page'}</p>
      </div>
      ${embedding === 'html' ? states : log}
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
  <p class="hint" id="theme-hint" hidden>
    An open form keeps the theme it was opened with. <button class="link" type="button">Reopen it</button>
  </p>`;
