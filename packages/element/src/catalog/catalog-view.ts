import type { CatalogType } from '@connector-frame/core/connect';
import { make } from '../make.js';
import { CatalogList } from './catalog-list.js';
import { createSearch, type Search } from './search-types.js';

/** What the picker shows: bones while it waits, why there is nothing, or the types. */
export type CatalogContent =
  { phase: 'waiting' } | { phase: 'error'; why: string } | { phase: 'ready'; types: readonly CatalogType[] };

export interface CatalogViewOptions {
  choose: (type: CatalogType) => void;
  retry: () => void;
  /** Told how many types the person sees. */
  found: (count: number) => void;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Search, categories and list. Made once; what is typed stays through everything. */
export class CatalogView {
  readonly #search = make('input', {
    part: 'search',
    type: 'search',
    placeholder: 'Search products',
    'aria-label': 'Search products',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    enterkeyhint: 'go',
  });
  readonly #category = make('select', { part: 'category', 'aria-label': 'Category' });
  readonly #count = make('p', { class: 'count', part: 'count', role: 'status' });
  readonly #list: CatalogList;
  readonly #below = make('div');
  #find: Search = () => [];
  #all: readonly CatalogType[] = [];
  #selected: string | undefined;

  constructor(
    root: Node,
    private readonly options: CatalogViewOptions,
  ) {
    this.#list = new CatalogList(options.choose, () => this.#search.focus());
    const field = make('div', { class: 'search' }, glass(), this.#search);
    root.appendChild(make('div', { class: 'bar', role: 'search' }, field, this.#category));
    root.appendChild(this.#count);
    root.appendChild(this.#below);
    this.#search.addEventListener('input', () => this.#showFound());
    this.#search.addEventListener('keydown', this.#press);
    this.#category.addEventListener('change', () => this.#showFound());
  }

  focus(options?: FocusOptions): void {
    this.#search.focus(options);
  }

  /** @param selected id of the type that is chosen already */
  show(content: CatalogContent, selected: string | undefined): void {
    this.#selected = selected;
    this.#below.setAttribute('aria-busy', String(content.phase === 'waiting'));
    if (content.phase === 'ready') return this.#showTypes(content.types);
    this.#count.textContent = '';
    this.#below.replaceChildren(content.phase === 'waiting' ? bones() : failure(content.why, this.options.retry));
  }

  #showTypes(types: readonly CatalogType[]): void {
    if (types !== this.#all) {
      this.#all = types;
      this.#find = createSearch(types);
      const chosen = this.#category.value;
      const categories = [...new Set(types.map(({ category }) => category))].sort((a, b) => a.localeCompare(b));
      const options = categories.map((category) => make('option', { value: category }, category));
      this.#category.replaceChildren(make('option', { value: '' }, 'All categories'), ...options);
      this.#category.value = categories.includes(chosen) ? chosen : '';
    }
    this.#showFound();
  }

  #showFound(): void {
    const { value: category } = this.#category;
    const types = this.#find(this.#search.value).filter((type) => category === '' || type.category === category);
    const all = this.#all.length;
    const products = all === 1 ? '1 product' : `${all} products`;
    this.#count.textContent = types.length === all ? products : `${types.length} of ${products}`;
    this.#list.show(types, this.#selected);
    if (types.length > 0) {
      if (this.#list.element.parentNode !== this.#below) this.#below.replaceChildren(this.#list.element);
    } else this.#below.replaceChildren(nothing());
    this.options.found(types.length);
  }

  readonly #press = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' && this.#list.enter()) event.preventDefault();
    // Without words the first is nobody's choice.
    if (event.key === 'Enter' && this.#search.value.trim() !== '') this.#list.chooseFirst();
  };
}

function glass(): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', 'M14.25 9a5.25 5.25 0 1 1-10.5 0 5.25 5.25 0 0 1 10.5 0Zm-1.5 3.75L17 17');
  svg.append(path);
  return svg;
}

const bones = (): HTMLElement =>
  make(
    'div',
    { part: 'loading' },
    make(
      'slot',
      { name: 'loading' },
      make('span', { class: 'sr', role: 'status' }, 'Loading the products'),
      make('ul', { 'aria-hidden': 'true' }, ...Array.from({ length: 9 }, () => make('li', { class: 'bone' }))),
    ),
  );

const nothing = (): HTMLElement =>
  make(
    'div',
    { class: 'note', part: 'empty' },
    make('slot', { name: 'empty' }, make('p', {}, 'Nothing matches. Try another word, or all categories.')),
  );

function failure(why: string, retry: () => void): HTMLElement {
  const button = make('button', { class: 'retry', part: 'retry', type: 'button' }, 'Try again');
  button.addEventListener('click', retry);
  const told = make('slot', { name: 'error' }, make('p', {}, 'The products could not be loaded. ', why), button);
  return make('div', { class: 'note', part: 'error', role: 'alert' }, told);
}
