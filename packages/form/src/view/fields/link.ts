import { html, type TemplateResult } from 'lit/html.js';

/**
 * Renders a button styled as a link: a short visible text, and a whole sentence for screen readers.
 */
export function link(word: string, sentence: string, onClick: () => void): TemplateResult {
  return html`<button class="cf-link" type="button" @click=${onClick}>
    <span aria-hidden="true">${word}</span><span class="cf-hidden">${sentence}</span>
  </button>`;
}
