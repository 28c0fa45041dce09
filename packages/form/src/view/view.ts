import { render } from 'lit/html.js';
import type { Messages } from '../messages/index.js';
import type { Field } from '../model/field.js';
import type { Form } from '../model/form.js';

/**
 * A note from the view under a field: a file was read, or rejected. The next keystroke removes it.
 */
interface Remark {
  text: string;
  bad: boolean;
}

interface Island {
  slot: HTMLElement;
  paint: () => void;
  stop: () => void;
}

/** The context passed to every template. */
export class View {
  /** Notes by path. `repaint` displays them. */
  readonly remarks = new Map<string, Remark>();
  readonly #islands = new Map<string, Island>();

  constructor(
    readonly form: Form,
    readonly messages: Messages,
    /** Announces text to screen readers, without moving focus. */
    readonly announce: (text: string) => void,
    private readonly template: (view: View, field: Field, path: string) => unknown,
  ) {}

  /**
   * Returns the element of a field. It is empty while the field's condition does not hold.
   *
   * @param path path of the instance; differs from `field.path` in a list row
   */
  field(field: Field, path = field.path): HTMLElement {
    return this.island(path, () => this.form.shown(path) && this.template(this, field, path));
  }

  /**
   * Returns an element that renders `template` when it is added to the page, and then after each
   * change of `path` only. A keystroke renders its own field, and no other part of the form.
   */
  island(path: string, template: () => unknown): HTMLElement {
    let island = this.#islands.get(path);
    if (!island) {
      const slot = document.createElement('div');
      slot.className = 'cf-slot';
      const paint = (): void => void render(template() || null, slot);
      island = { slot, paint, stop: this.form.subscribe(path, paint) };
      this.#islands.set(path, island);
    }
    // New, or added again: a row that had been removed, or the body of another variant.
    if (!island.slot.isConnected) island.paint();
    return island.slot;
  }

  /** Renders everything at or below a path again, after its rows shifted or its note changed. */
  repaint(path: string): void {
    for (const [at, { paint }] of this.#islands) if (`${at}/`.startsWith(`${path}/`)) paint();
  }

  /** Discards all fragments, before other fields are rendered. */
  clear(): void {
    for (const { stop } of this.#islands.values()) stop();
    this.#islands.clear();
  }

  /** Stores user input, and removes the note about the previous value. */
  type(path: string, value: unknown): void {
    this.remarks.delete(path);
    this.form.setValue(path, value);
  }

  /** Returns a value as the text that a control displays. */
  text(path: string): string {
    const value = this.form.value(path);
    return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
  }
}
