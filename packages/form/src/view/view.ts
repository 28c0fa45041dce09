import { render } from 'lit/html.js';
import type { Messages } from '../messages/index.js';
import type { Field } from '../model/field.js';
import type { Form } from '../model/form.js';

/** A remark of the view itself under a field: a file was read, or refused. It goes with the next keystroke. */
interface Remark {
  text: string;
  bad: boolean;
}

interface Island {
  slot: HTMLElement;
  paint: () => void;
  stop: () => void;
}

/** What every template gets. */
export class View {
  /** Remarks by path. `repaint` shows them. */
  readonly remarks = new Map<string, Remark>();
  readonly #islands = new Map<string, Island>();

  constructor(
    readonly form: Form,
    readonly messages: Messages,
    /** Tells screen readers, without moving focus. */
    readonly announce: (text: string) => void,
    private readonly template: (view: View, field: Field, path: string) => unknown,
  ) {}

  /** One field. It is gone while its condition does not hold. `path` is given for a cell of a list row. */
  field(field: Field, path = field.path): HTMLElement {
    return this.island(path, () => this.form.shown(path) && this.template(this, field, path));
  }

  /**
   * The element in which a path is painted: when it comes onto the page, then after each change of that path and only then.
   * A keystroke paints its own field; the page around and the fields beside it are not even looked at.
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
    // New, or back after it was away: a row that was removed, the body of another variant.
    if (!island.slot.isConnected) island.paint();
    return island.slot;
  }

  /** Paints what lies at or below a path: its rows have moved, or it has a remark. */
  repaint(path: string): void {
    for (const [at, { paint }] of this.#islands) if (`${at}/`.startsWith(`${path}/`)) paint();
  }

  /** Forgets all islands, before other fields are shown. */
  clear(): void {
    for (const { stop } of this.#islands.values()) stop();
    this.#islands.clear();
  }

  /** A keystroke: the value changes, and a remark about the one before goes. */
  type(path: string, value: unknown): void {
    this.remarks.delete(path);
    this.form.setValue(path, value);
  }

  /** Text of a value as a control shows it. */
  text(path: string): string {
    const value = this.form.value(path);
    return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
  }
}
