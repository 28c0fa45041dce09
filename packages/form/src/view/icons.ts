import { html, type TemplateResult } from 'lit/html.js';

/** A drawing of the page's own set (in `index.html`), in the color of the text beside it. */
export function icon(
  name: 'alert' | 'check' | 'chevron' | 'lock' | 'plus' | 'remove' | 'ring' | 'select',
): TemplateResult {
  return html`<svg class="cf-icon cf-icon-${name}" width="16" height="16" aria-hidden="true">
    <use href="#cf-icon-${name}"></use>
  </svg>`;
}
