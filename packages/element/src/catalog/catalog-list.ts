import type { CatalogType } from '@connector-frame/core/connect';
import { make } from '../make.js';
import type { ElementMessages } from '../messages/en.js';
import { createItem } from './catalog-item.js';
import { nextIndex } from './grid-keys.js';

/**
 * A grid of buttons with a roving tab index: Tab reaches one of them, arrow keys move between them.
 */
export class CatalogList {
  readonly element = make('ul', { part: 'list' });
  readonly #items = new Map<CatalogType, HTMLButtonElement>();
  #messages: ElementMessages | undefined;
  #shown: readonly HTMLButtonElement[] = [];
  /** The button that Tab reaches. */
  #tabStop: HTMLButtonElement | undefined;
  readonly #choose: (type: CatalogType) => void;
  readonly #leave: () => void;

  /**
   * @param choose called when the user chooses a type
   * @param leave called when the focus moves out at the top, or the user types a letter
   */
  constructor(choose: (type: CatalogType) => void, leave: () => void) {
    this.#choose = choose;
    this.#leave = leave;
    this.element.addEventListener('keydown', this.#handleKey);
    this.element.addEventListener('focusin', ({ target }) => {
      if (target instanceof HTMLButtonElement) this.#setTabStop(target);
    });
  }

  /**
   * @param selected ID of the type that is marked as chosen
   * @param messages with the accessible name of the list
   */
  show(types: readonly CatalogType[], selected: string | undefined, messages: ElementMessages): void {
    this.element.setAttribute('aria-label', messages.products);
    if (TEXTS.some((key) => messages[key] !== this.#messages?.[key])) this.#items.clear();
    this.#messages = messages;
    this.#shown = types.map((type) => this.#itemOf(type, messages));
    for (const [index, button] of this.#shown.entries()) {
      if (types[index]?.type_id === selected) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    this.element.replaceChildren(...this.#shown.map((button) => button.parentElement ?? button));
    const current = this.#shown.find((button) => button.hasAttribute('aria-current'));
    this.#setTabStop(current ?? this.#shown[0]);
  }

  /** Focuses the first type. Returns whether there is one. */
  focusFirst(): boolean {
    this.#shown[0]?.focus();
    return this.#shown.length > 0;
  }

  /** Chooses the first type. */
  chooseFirst(): void {
    this.#shown[0]?.click();
  }

  #itemOf(type: CatalogType, messages: ElementMessages): HTMLButtonElement {
    const known = this.#items.get(type);
    if (known) return known;
    const button = createItem(type, this.#choose, messages).querySelector('button') ?? make('button');
    this.#items.set(type, button);
    return button;
  }

  #setTabStop(button: HTMLButtonElement | undefined): void {
    if (this.#tabStop) this.#tabStop.tabIndex = -1;
    if (button) button.tabIndex = 0;
    this.#tabStop = button;
  }

  readonly #handleKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLButtonElement)) return;
    const { key } = event;
    // Letters belong to the search field; a space presses the button.
    if (key.length === 1 && key !== ' ') return this.#leave();
    const from = this.#shown.indexOf(event.target);
    const isRightToLeft = getComputedStyle(this.element).direction === 'rtl';
    const logicalKey = isRightToLeft ? (mirrored[key] ?? key) : key;
    const next = nextIndex(logicalKey, from, this.#columns(), this.#shown.length);
    if (next === undefined) return;
    event.preventDefault();
    if (next < 0) this.#leave();
    else this.#shown[next]?.focus();
  };

  #columns(): number {
    return getComputedStyle(this.element).gridTemplateColumns.split(' ').length;
  }
}

/** The messages that items show. */
const TEXTS = ['savedOnly', 'needsAgent', 'proprietary', 'withdrawn'] as const;

const mirrored: Partial<Record<string, string>> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' };
