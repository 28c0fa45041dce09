import { html, type Html } from '../html.js';

/** The field in which products are searched. @param sent the words that were sent by it, where its form is sent to the server */
export function searchField(sent?: string): Html {
  return html`<label class="search">
    <span class="hidden">Search products</span>
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="9" cy="9" r="5.25" />
      <path d="m13 13 4 4" />
    </svg>
    <input
      type="search"
      ${sent !== undefined && html`name="q" value="${sent}"`}
      placeholder="Search products"
      autocomplete="off"
      spellcheck="false"
    />
  </label>`;
}
