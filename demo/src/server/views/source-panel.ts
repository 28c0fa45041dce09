import { html, type Html } from '../html.js';
import { highlight } from '../highlight.js';

/** A source file of a page: unmodified, or with its template filled for this response. */
export interface SourceFile {
  name: string;
  code: string;
}

/** Renders the page's source files, with the first one expanded. */
export function sourcePanel(files: readonly SourceFile[]): Html {
  return html`<section class="source" aria-labelledby="source-title">
    <h2 id="source-title">Source of this page</h2>
    ${files.map(
      ({ name, code }, index) =>
        html`<details${index === 0 && html` open`}>
        <summary>${name}</summary>
        <pre tabindex="0" role="region" aria-label="${name}"><code>${highlight(code.trimEnd(), name)}</code></pre>
      </details>`,
    )}
  </section>`;
}
