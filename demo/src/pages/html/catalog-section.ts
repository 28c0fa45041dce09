import type { CatalogType, ComponentKind } from '@connector-frame/core/connect';
import { byId, fromTemplate, make } from '../shared/dom.js';
import { showMark } from '../shared/vendor-mark.js';
import { placeHref } from './place.js';
import { blank, skeleton } from './section.js';

/** The grid of products with its search. */
export function createCatalogSection() {
  const box = byId('catalog');
  const count = byId('catalog-count');
  const filters = byId('filters');
  const search = byId('search', HTMLInputElement);
  const category = byId('category', HTMLSelectElement);
  let kind: ComponentKind = 'input';
  let types: CatalogType[] = [];

  const show = () => {
    const found = types.filter((type) => matches(type, search.value, category.value));
    count.textContent = found.length === types.length ? `${types.length}` : `${found.length} of ${types.length}`;
    if (found.length > 0) box.replaceChildren(grid(kind, found));
    else
      box.replaceChildren(blank(types.length > 0 ? 'Nothing matches. Try another word.' : 'Nothing is offered here.'));
  };
  search.addEventListener('input', show);
  category.addEventListener('input', show);

  return {
    loading(): void {
      types = [];
      count.textContent = '';
      box.replaceChildren(skeleton(9, 'products'));
    },
    show(nextKind: ComponentKind, next: CatalogType[]): void {
      if (nextKind !== kind || types.length === 0) offerCategories(category, next);
      if (nextKind !== kind) search.value = '';
      [kind, types] = [nextKind, next];
      filters.hidden = false;
      show();
    },
    fail(message: string, retry: () => void): void {
      count.textContent = '';
      filters.hidden = true;
      box.replaceChildren(blank(message, { label: 'Try again', run: retry }));
    },
  };
}

function matches(type: CatalogType, words: string, category: string): boolean {
  if (category !== '' && type.category !== category) return false;
  const text = `${type.name} ${type.description} ${type.category} ${type.type_id}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function offerCategories(select: HTMLSelectElement, types: CatalogType[]): void {
  const names = [...new Set(types.map((type) => type.category))]
    .filter((name) => name !== '')
    .sort((a, b) => a.localeCompare(b));
  select.replaceChildren(
    make('option', { value: '' }, 'All categories'),
    ...names.map((name) => make('option', { value: name }, name)),
  );
}

function grid(kind: ComponentKind, types: CatalogType[]): HTMLElement {
  const list = make('ul', { className: 'products' });
  for (const type of types) {
    const { root, slot } = fromTemplate('product');
    showMark(slot('mark'), type.icon, type.name);
    slot('name').textContent = type.name;
    slot('about').textContent = type.description || type.category;
    root.querySelector('a')?.setAttribute('href', placeHref({ kind, typeId: type.type_id }));
    list.append(root);
  }
  return list;
}
