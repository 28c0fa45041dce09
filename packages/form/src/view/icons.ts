import { html, type TemplateResult } from 'lit/html.js';

/** Returns an icon for a shadow root, where `<use>` cannot reference a symbol of the page. */
export function ownIcon(name: 'alert' | 'lock'): unknown {
  const drawing = document.getElementById(`cf-icon-${name}`)?.cloneNode(true);
  const nodes = drawing ? Array.from(drawing.childNodes) : [];
  return html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${nodes}</svg>`;
}

/**
 * Returns an icon that uses a symbol of the page (`page.html`), in the color of the adjacent text.
 */
export function icon(
  name: 'alert' | 'check' | 'chevron' | 'lock' | 'plus' | 'remove' | 'ring' | 'select',
): TemplateResult {
  return html`<svg class="cf-icon cf-icon-${name}" width="16" height="16" aria-hidden="true">
    <use href="#cf-icon-${name}"></use>
  </svg>`;
}
