import { html, type Html } from '../html.js';
import { highlight } from '../highlight.js';

/** A file of a page, as it stands in the repository or as it was filled for this answer. */
export interface SourceFile {
  name: string;
  code: string;
}

/** The page's own source, the first file open. */
export function sourcePanel(files: readonly SourceFile[]): Html {
  return html`<section class="source" aria-labelledby="source-title">
    <h2 id="source-title">Source of this page</h2>
    ${files.map(
      ({ name, code }, index) => html`<details${index === 0 && html` open`}>
        <summary>${name}</summary>
        <pre tabindex="0" role="region" aria-label="${name}"><code>${highlight(code.trimEnd(), name)}</code></pre>
      </details>`,
    )}
  </section>`;
}
