import type { CatalogType, ConnectorFrameError } from '@connector-frame/core/connect';
import { make } from '../make.js';
import { describeError, type ErrorTexts } from '../messages/describe-error.js';
import { catalogEn, en, type ElementMessages } from '../messages/en.js';
import { CatalogList } from './catalog-list.js';
import { createSearch, type Search } from './search-types.js';

/** Content of the catalog: a skeleton, the cause of an error, or the connector types. */
export type CatalogContent =
  | { phase: 'waiting' }
  | { phase: 'error'; error: ConnectorFrameError }
  | { phase: 'ready'; types: readonly CatalogType[] };

export interface CatalogViewOptions {
  /** Called when the user chooses a type. */
  choose: (type: CatalogType) => void;
  /** Called when the user presses the button of the error view. */
  retry: () => void;
  /** Called with the number of types that are shown. */
  found: (count: number) => void;
}

/** The English messages of the catalog. */
export const english: ElementMessages = { ...en, ...catalogEn };

const SVG = 'http://www.w3.org/2000/svg';

/** Search field, category filter and list. Created once, so that the search keeps its text. */
export class CatalogView {
  readonly #search = make('input', {
    part: 'search',
    type: 'search',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    enterkeyhint: 'go',
  });
  readonly #category = make('select', { part: 'category' });
  readonly #allCategories = make('option', { value: '' });
  readonly #count = make('p', { class: 'count', part: 'count', role: 'status' });
  readonly #list: CatalogList;
  readonly #below = make('div');
  readonly #options: CatalogViewOptions;
  #find: Search = () => [];
  #all: readonly CatalogType[] = [];
  #selected: string | undefined;
  #messages = english;

  constructor(root: Node, options: CatalogViewOptions) {
    this.#options = options;
    this.#list = new CatalogList(options.choose, () => this.#search.focus());
    const field = make('div', { class: 'search' }, searchIcon(), this.#search);
    root.appendChild(make('div', { class: 'bar', role: 'search' }, field, this.#category));
    root.appendChild(this.#count);
    root.appendChild(this.#below);
    this.#search.addEventListener('input', () => this.#showFound());
    this.#search.addEventListener('keydown', this.#handleKey);
    this.#category.addEventListener('change', () => this.#showFound());
  }

  focus(options?: FocusOptions): void {
    this.#search.focus(options);
  }

  /** @param selected ID of the type that is marked as chosen */
  show(content: CatalogContent, selected: string | undefined, messages: ElementMessages): void {
    this.#selected = selected;
    this.#messages = messages;
    this.#search.placeholder = messages.searchProducts;
    this.#search.setAttribute('aria-label', messages.searchProducts);
    this.#category.setAttribute('aria-label', messages.category);
    this.#allCategories.textContent = messages.allCategories;
    this.#below.setAttribute('aria-busy', String(content.phase === 'waiting'));
    if (content.phase === 'ready') return this.#showTypes(content.types);
    this.#count.textContent = '';
    this.#below.replaceChildren(
      content.phase === 'waiting'
        ? skeleton(messages)
        : failure(messages, describeError(content.error, messages), this.#options.retry),
    );
  }

  #showTypes(types: readonly CatalogType[]): void {
    if (types !== this.#all) {
      this.#all = types;
      this.#find = createSearch(types);
      const chosen = this.#category.value;
      const categories = [...new Set(types.map(({ category }) => category))].sort((a, b) => a.localeCompare(b));
      const options = categories.map((category) => make('option', { value: category }, category));
      this.#category.replaceChildren(this.#allCategories, ...options);
      this.#category.value = categories.includes(chosen) ? chosen : '';
    }
    this.#showFound();
  }

  #showFound(): void {
    const { value: category } = this.#category;
    const messages = this.#messages;
    const types = this.#find(this.#search.value).filter((type) => category === '' || type.category === category);
    this.#count.textContent = messages.count(types.length, this.#all.length);
    this.#list.show(types, this.#selected, messages);
    if (types.length > 0) {
      if (this.#list.element.parentNode !== this.#below) this.#below.replaceChildren(this.#list.element);
    } else this.#below.replaceChildren(noMatches(messages));
    this.#options.found(types.length);
  }

  readonly #handleKey = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' && this.#list.focusFirst()) event.preventDefault();
    // Without a search, the first type is an arbitrary one.
    if (event.key === 'Enter' && this.#search.value.trim() !== '') this.#list.chooseFirst();
  };
}

function searchIcon(): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', 'M14.25 9a5.25 5.25 0 1 1-10.5 0 5.25 5.25 0 0 1 10.5 0Zm-1.5 3.75L17 17');
  svg.append(path);
  return svg;
}

const skeleton = ({ loadingProducts }: ElementMessages): HTMLElement =>
  make(
    'div',
    { part: 'loading' },
    make(
      'slot',
      { name: 'loading' },
      make('span', { class: 'sr', role: 'status' }, loadingProducts),
      make('ul', { 'aria-hidden': 'true' }, ...Array.from({ length: 9 }, () => make('li', { class: 'bone' }))),
    ),
  );

const noMatches = ({ noMatches: text }: ElementMessages): HTMLElement =>
  make('div', { class: 'note', part: 'empty' }, make('slot', { name: 'empty' }, make('p', {}, text)));

function failure(
  { productsFailed, tryAgain }: ElementMessages,
  { cause, details }: ErrorTexts,
  retry: () => void,
): HTMLElement {
  const button = make('button', { class: 'retry', part: 'retry', type: 'button' }, tryAgain);
  button.addEventListener('click', retry);
  const developer = details ? [make('p', { class: 'details', part: 'details' }, details)] : [];
  const content = make('slot', { name: 'error' }, make('p', {}, `${productsFailed} `, cause), ...developer, button);
  return make('div', { class: 'note', part: 'error', role: 'alert' }, content);
}
