import { html, type TemplateResult } from 'lit/html.js';

/** The same inside of a shadow root, where a drawing of the page can't be referred to. */
export function ownIcon(name: 'alert' | 'lock'): unknown {
  const drawing = document.getElementById(`cf-icon-${name}`)?.cloneNode(true);
  const nodes = drawing ? Array.from(drawing.childNodes) : [];
  return html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${nodes}</svg>`;
}

/** A drawing of the page's own set (in `index.html`), in the color of the text beside it. */
export function icon(
  name: 'alert' | 'check' | 'chevron' | 'lock' | 'plus' | 'remove' | 'ring' | 'select',
): TemplateResult {
  return html`<svg class="cf-icon cf-icon-${name}" width="16" height="16" aria-hidden="true">
    <use href="#cf-icon-${name}"></use>
  </svg>`;
}
