import type { CatalogType } from '@connector-frame/core/connect';
import { make } from '../make.js';

/**
 * Creates the list item of a connector type: a button with icon, name and description.
 *
 * @param savedOnly text of a type that the service can't run
 */
export function createItem(type: CatalogType, choose: (type: CatalogType) => void, savedOnly: string): HTMLLIElement {
  const { name, description, category, icon, runtime } = type;
  const mark = make('span', { class: 'icon', part: 'icon', 'aria-hidden': 'true' }, monogram(name));
  if (icon !== null) {
    const image = make('img', { alt: '', width: '22', height: '22', loading: 'lazy', decoding: 'async' });
    // An icon that fails to load is replaced by its letters.
    image.addEventListener('error', () => mark.replaceChildren(monogram(name)));
    image.src = icon;
    mark.replaceChildren(image);
  }
  const button = make(
    'button',
    { class: 'item', part: 'item', type: 'button', tabindex: '-1' },
    mark,
    make(
      'span',
      { class: 'words' },
      make('span', { class: 'name', part: 'name' }, name),
      make('span', { class: 'about', part: 'description' }, description || category),
      ...(runtime === false ? [make('span', { class: 'saved-only', part: 'saved-only' }, savedOnly)] : []),
    ),
  );
  button.addEventListener('click', () => choose(type));
  return make('li', {}, button);
}

/** Returns the first letters of the first two words. */
function monogram(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return words
    .slice(0, 2)
    .map((word) => Array.from(word)[0] ?? '')
    .join('')
    .toUpperCase();
}
