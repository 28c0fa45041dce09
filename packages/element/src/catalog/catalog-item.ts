import type { CatalogType } from '@connector-frame/core/connect';
import { make } from '../make.js';
import type { CatalogMessages } from '../messages/en.js';
import { hueOf, lettersOf } from './letter-tile.js';

/** Texts of types that the service can't run. */
export type UnavailableMessages = Pick<CatalogMessages, 'savedOnly' | 'needsAgent' | 'proprietary' | 'withdrawn'>;

/** Creates the list item of a connector type: a button with icon, name and description. */
export function createItem(
  type: CatalogType,
  choose: (type: CatalogType) => void,
  messages: UnavailableMessages,
): HTMLLIElement {
  const { name, description, category, icon, runtime } = type;
  const button = make(
    'button',
    { class: 'item', part: 'item', type: 'button', tabindex: '-1' },
    icon === null ? letterTile(name) : iconTile(icon, name),
    make(
      'span',
      { class: 'words' },
      make('span', { class: 'name', part: 'name' }, name),
      make('span', { class: 'about', part: 'description' }, description || category),
      ...(runtime === false ? [make('span', { class: 'saved-only', part: 'saved-only' }, whyNot(type, messages))] : []),
    ),
  );
  button.addEventListener('click', () => choose(type));
  return make('li', {}, button);
}

const tile = (kind: string, content: Node | string): HTMLSpanElement =>
  make('span', { class: `icon ${kind}`, part: 'icon', 'aria-hidden': 'true' }, content);

function iconTile(icon: string, name: string): HTMLSpanElement {
  const image = make('img', { alt: '', width: '22', height: '22', loading: 'lazy', decoding: 'async' });
  const mark = tile('', image);
  image.addEventListener('error', () => mark.replaceWith(letterTile(name)));
  image.src = icon;
  return mark;
}

function letterTile(name: string): HTMLSpanElement {
  const mark = tile('letters', lettersOf(name));
  // A page's CSP may forbid style attributes, but not this.
  mark.style.setProperty('--hue', String(hueOf(name)));
  return mark;
}

function whyNot({ unavailable }: CatalogType, messages: UnavailableMessages): string {
  switch (unavailable?.reason) {
    case 'agent':
      return messages.needsAgent;
    case 'proprietary':
      return messages.proprietary;
    case 'withdrawn':
      return messages.withdrawn;
    default:
      return messages.savedOnly;
  }
}
