import { html, type TemplateResult } from 'lit/html.js';

/** A button that reads as a link: a short word to see, the whole sentence to hear. */
export function link(word: string, sentence: string, onClick: () => void): TemplateResult {
  return html`<button class="cf-link" type="button" @click=${onClick}>
    <span aria-hidden="true">${word}</span><span class="cf-hidden">${sentence}</span>
  </button>`;
}
