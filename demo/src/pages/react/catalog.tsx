import { useState } from 'react';
import type { CatalogType } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/react';
import {
  categoriesOf,
  countOf,
  matches,
} from '../shared/lists.js';
import { placeHref } from '../shared/place.js';
import { Mark } from './mark.js';

/** The products, with their search. */
export function Catalog({
  kind,
  types,
}: {
  kind: ComponentKind;
  types: CatalogType[];
}) {
  const [search, setSearch] = useState('');
  const [category, setCategory] = useState('');
  const found = types.filter((type) =>
    matches(type, search, category),
  );
  return (
    <>
      <div className="section-head">
        <h2 id="catalog-title">Add a connection</h2>
        <p
          className="count"
          id="catalog-count"
          role="status"
        >
          {countOf(found, types)}
        </p>
      </div>
      <div className="filters">
        <label className="search">
          <span className="hidden">Search products</span>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <circle cx="9" cy="9" r="5.25" />
            <path d="m13 13 4 4" />
          </svg>
          <input
            type="search"
            placeholder="Search products"
            autoComplete="off"
            spellCheck="false"
            value={search}
            onChange={(event) =>
              setSearch(event.target.value)
            }
          />
        </label>
        <label>
          <span className="hidden">Category</span>
          <select
            value={category}
            onChange={(event) =>
              setCategory(event.target.value)
            }
          >
            <option value="">All categories</option>
            {categoriesOf(types).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      {found.length === 0 && (
        <div className="blank">
          <p>Nothing matches. Try another word.</p>
        </div>
      )}
      <ul className="products">
        {found.map((type) => (
          <li key={type.type_id}>
            <a
              className="product"
              href={placeHref({
                kind,
                typeId: type.type_id,
              })}
            >
              <Mark icon={type.icon} name={type.name} />
              <span className="product-text">
                <span className="product-name">
                  {type.name}
                </span>
                <span className="product-about">
                  {type.description || type.category}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
