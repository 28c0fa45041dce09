import type { CatalogType, ConfiguredConnector } from '@connector-frame/core/connect';
import { createSearch, hueOf, lettersOf } from '@connector-frame/element/catalog';
import { categoriesOf, countOf, describe, newestFirst, words } from '../../pages/shared/lists.js';
import { html, type Html } from '../html.js';
import type { PageQuery } from '../page-query.js';
import { searchField } from './search-field.js';

/** Items of a list, or why it could not be loaded. */
export type Listed<Item> = { items: readonly Item[] } | { failure: string };

export interface Lists {
  types: Listed<CatalogType>;
  connectors: Listed<ConfiguredConnector>;
}

/** Data that the rows of inputs need for their pipelines. */
export interface RowParts {
  tenantId: string;
  /** URL of the script of `<pipeline-row>`. */
  script: string;
}

/** Renders the tenant's connectors and the catalog, for pages without a script that does so. */
export function lists(query: PageQuery, { types, connectors }: Lists, rows: RowParts): Html {
  const known = 'items' in types ? types.items : [];
  const made = 'items' in connectors ? connectors.items : [];
  const saved = made.find(({ id }) => id === query.saved?.id);
  return html`<h1>${words[query.kind].title}</h1>
    <p class="lead">Credentials are typed into a form of another origin: this page can’t see them.</p>
    ${
      saved &&
      html`<p class="note success" role="status">
        <b>${saved.name}</b> is ${query.saved?.how}. Its id: <code>${saved.id}</code>
      </p>`
    }
    ${query.isDeleted && html`<p class="note success" role="status">The connection is deleted.</p>`}
    <section id="connections" aria-labelledby="connections-title">
      <div class="section-head">
        <h2 id="connections-title">Your connections</h2>
        <p class="count">${countOf(made, made)}</p>
      </div>
      ${'failure' in connectors ? failure(connectors.failure, query) : connections(query, made, known, rows)}
    </section>
    <section id="catalog" aria-labelledby="catalog-title">${catalog(query, types)}</section>`;
}

function connections(
  query: PageQuery,
  made: readonly ConfiguredConnector[],
  types: readonly CatalogType[],
  { tenantId, script }: RowParts,
): Html {
  if (made.length === 0) return html`<div class="blank"><p>${words[query.kind].none}</p></div>`;
  return html`${script !== '' && html`<script type="module" src="${script}"></script>`}
    <ul class="connections">
      ${newestFirst(made, query.saved?.id).map((connector) => {
        const { icon, typeName, name, about, limit } = describe(connector, types);
        const isNew = connector.id === query.saved?.id;
        return html`<li class="connection">
          ${mark(icon, typeName)}
          <span class="connection-text">
            <a class="connection-name" href="${address(query, { type: connector.type_id, id: connector.id })}"
              >${name}</a
            >
            <span class="connection-about">${about}</span>
            ${limit !== undefined && html`<span class="connection-limit">${limit}</span>`}
          </span>
          <span class="state" ${isNew && html` data-state="new"`}>${isNew ? 'Saved just now' : 'Saved'}</span>
          <span class="connection-edit" aria-hidden="true">Edit</span>
          ${
            query.kind === 'input' &&
            html`<pipeline-row
              tenant-id="${tenantId}"
              input-id="${connector.id}"
              input-name="${name}"
              type-id="${connector.type_id}"
              ${isNew && html` is-new`}
              ${limit !== undefined && html` saved-only`}
            ></pipeline-row>`
          }
        </li>`;
      })}
    </ul>`;
}

function catalog(query: PageQuery, types: Listed<CatalogType>): Html {
  // As <connector-catalog> does by default: what can't run is not offered.
  const all = 'items' in types ? types.items.filter(({ runtime }) => runtime !== false) : [];
  const found = createSearch(all)(query.words).filter(
    ({ category }) => query.category === '' || category === query.category,
  );
  return html`<div class="section-head">
      <h2 id="catalog-title">Add a connection</h2>
      <p class="count" id="catalog-count">${countOf(found, all)}</p>
    </div>
    ${
      'failure' in types
        ? failure(types.failure, query)
        : html`<form class="filters" role="search">
              <input type="hidden" name="kind" value="${query.kind}" />
              ${searchField(query.words)}
              <label>
                <span class="hidden">Category</span>
                <select name="category">
                  <option value="">All categories</option>
                  ${categoriesOf(all).map((one) => html`<option${one === query.category && html` selected`}>${one}</option>`)}
                </select>
              </label>
              <button class="secondary">Search</button>
            </form>
            ${found.length === 0 && html`<div class="blank"><p>Nothing matches. Try another word.</p></div>`}
            <ul class="products">
              ${found.map(
                (type) =>
                  html`<li>
                    <a class="product" href="${address(query, { type: type.type_id })}">
                      ${mark(type.icon, type.name)}
                      <span class="product-text">
                        <span class="product-name">${type.name}</span>
                        <span class="product-about">${type.description || type.category}</span>
                      </span>
                    </a>
                  </li>`,
              )}
            </ul>`
    }`;
}

/** Renders the link back to the lists and the heading of an open form. */
export function formHead(query: PageQuery): Html {
  const { list, one } = words[query.kind];
  return html`<a class="back" href="${address(query, {})}">
      <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M12 5 7 10l5 5" /></svg>${list}
    </a>
    <h1>${query.connectorId === '' ? 'New' : 'Edit'} ${one}</h1>`;
}

function failure(message: string, query: PageQuery): Html {
  return html`<div class="blank" role="alert">
    <p>${message}</p>
    <a class="button secondary" href="${address(query, {})}">Try again</a>
  </div>`;
}

function mark(icon: string | null | undefined, name: string): Html {
  return icon
    ? html`<span class="mark"><img src="${icon}" alt="" width="24" height="24" loading="lazy" /></span>`
    : html`<span class="mark letters" data-hue="${hueOf(name)}">${lettersOf(name)}</span>`;
}

function address({ kind }: PageQuery, more: Record<string, string>): string {
  return `?${new URLSearchParams({ kind, ...more })}`;
}
