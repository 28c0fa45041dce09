import { html, type Html } from '../html.js';
import type { Tenant } from '../sign-in.js';
import { searchField } from './search-field.js';

/** Renders the contact sheet of all forms, which is filled by its script. */
export function gallery(tenant: Tenant): Html {
  return html`<main class="gallery" id="gallery" tabindex="-1" data-tenant-id="${tenant.id}">
    <h1>Every form</h1>
    <p class="lead">One for each connector type, on the real service. What you save here is kept for ${tenant.name}.</p>
    <form class="filters" role="search">
      ${searchField()}
      <label>
        <span class="hidden">Category</span>
        <select></select>
      </label>
      <label>
        <span class="hidden">Kind</span>
        <select>
          <option value="input">Data sources</option>
          <option value="output">Destinations</option>
          <option value="enrichment">Lookups</option>
        </select>
      </label>
    </form>
    <p class="count" role="status"></p>
    <div class="sheets"></div>
  </main>`;
}
