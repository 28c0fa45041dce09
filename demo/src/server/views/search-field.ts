import { html, type Html } from '../html.js';

/**
 * Renders the search field for products.
 * @param sent current search terms, if the form is submitted to the server
 */
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
