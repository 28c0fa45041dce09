import type { CatalogType } from '@connector-frame/core/connect';
import { make } from '../make.js';
import { createItem } from './catalog-item.js';
import { nextIndex } from './grid-keys.js';

/** The found types as a grid of buttons with one stop of the Tab key, which the arrow keys move. */
export class CatalogList {
  readonly element = make('ul', { part: 'list', 'aria-label': 'Products' });
  readonly #items = new Map<CatalogType, HTMLButtonElement>();
  #shown: readonly HTMLButtonElement[] = [];
  #stop: HTMLButtonElement | undefined;

  /**
   * @param choose when the person picks a type
   * @param leave when the keyboard goes out at the top, or types on
   */
  constructor(
    private readonly choose: (type: CatalogType) => void,
    private readonly leave: () => void,
  ) {
    this.element.addEventListener('keydown', this.#move);
    this.element.addEventListener('focusin', ({ target }) => {
      if (target instanceof HTMLButtonElement) this.#stopAt(target);
    });
  }

  /** @param selected id of the type that is chosen already */
  show(types: readonly CatalogType[], selected: string | undefined): void {
    this.#shown = types.map((type) => this.#itemOf(type));
    for (const [index, button] of this.#shown.entries()) {
      if (types[index]?.type_id === selected) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    this.element.replaceChildren(...this.#shown.map((button) => button.parentElement ?? button));
    const current = this.#shown.find((button) => button.hasAttribute('aria-current'));
    this.#stopAt(current ?? this.#shown[0]);
  }

  /** Focus on the first found; `false` when there is none. */
  enter(): boolean {
    this.#shown[0]?.focus();
    return this.#shown.length > 0;
  }

  /** Picks the first found. */
  chooseFirst(): void {
    this.#shown[0]?.click();
  }

  #itemOf(type: CatalogType): HTMLButtonElement {
    const known = this.#items.get(type);
    if (known) return known;
    const button = createItem(type, this.choose).querySelector('button') ?? make('button');
    this.#items.set(type, button);
    return button;
  }

  #stopAt(button: HTMLButtonElement | undefined): void {
    if (this.#stop) this.#stop.tabIndex = -1;
    if (button) button.tabIndex = 0;
    this.#stop = button;
  }

  readonly #move = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLButtonElement)) return;
    const { key } = event;
    // Letters go on where they are searched; a space presses the button.
    if (key.length === 1 && key !== ' ') return this.leave();
    const from = this.#shown.indexOf(event.target);
    const isRightToLeft = getComputedStyle(this.element).direction === 'rtl';
    const turned = isRightToLeft ? (mirrored[key] ?? key) : key;
    const next = nextIndex(turned, from, this.#columns(), this.#shown.length);
    if (next === undefined) return;
    event.preventDefault();
    if (next < 0) this.leave();
    else this.#shown[next]?.focus();
  };

  #columns(): number {
    return getComputedStyle(this.element).gridTemplateColumns.split(' ').length;
  }
}

const mirrored: Partial<Record<string, string>> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' };
