import { render } from 'lit/html.js';
import type { Messages } from '../messages/index.js';
import type { Field } from '../model/field.js';
import type { Form } from '../model/form.js';
import type { ViewOptions } from './options.js';

/**
 * A note from the view under a field: a file was read, or rejected. The next keystroke removes it.
 */
interface Remark {
  text: string;
  bad: boolean;
}

/** A part of the form that renders on its own, into its own element. */
interface Fragment {
  container: HTMLElement;
  update: () => void;
  unsubscribe: () => void;
}

type FieldTemplate = (view: View, field: Field, path: string) => unknown;

/** The context passed to every template. */
export class View {
  /** Notes by path. `repaint` displays them. */
  readonly remarks = new Map<string, Remark>();
  readonly form: Form;
  readonly messages: Messages;
  /** Announces text to screen readers, without moving focus. */
  readonly announce: (text: string) => void;
  readonly #template: FieldTemplate;
  readonly #setup: ((path: string) => unknown) | undefined;
  readonly #fragments = new Map<string, Fragment>();

  constructor(
    form: Form,
    { messages, setup }: Pick<ViewOptions, 'messages' | 'setup'>,
    announce: (text: string) => void,
    template: FieldTemplate,
  ) {
    this.form = form;
    this.#setup = setup;
    this.messages = messages;
    this.announce = announce;
    this.#template = template;
  }

  /**
   * Returns the element of a field. It is empty while the field's condition does not hold.
   *
   * @param path path of the instance; differs from `field.path` in a list row
   */
  field(field: Field, path = field.path): HTMLElement {
    return this.fragment(path, () => this.form.shown(path) && [this.#template(this, field, path), this.#setup?.(path)]);
  }

  /**
   * Returns an element that renders `template` when it is added to the page, and then after each
   * change of `path` only. A keystroke renders its own field, and no other part of the form.
   */
  fragment(path: string, template: () => unknown): HTMLElement {
    let fragment = this.#fragments.get(path);
    if (!fragment) {
      const container = document.createElement('div');
      container.className = 'cf-slot';
      const update = (): void => void render(template() || null, container);
      fragment = { container, update, unsubscribe: this.form.subscribe(path, update) };
      this.#fragments.set(path, fragment);
    }
    // New, or added again: a row that had been removed, or the body of another variant.
    if (!fragment.container.isConnected) fragment.update();
    return fragment.container;
  }

  /** Renders everything at or below a path again, after its rows shifted or its note changed. */
  repaint(path: string): void {
    for (const [at, { update }] of this.#fragments) if (`${at}/`.startsWith(`${path}/`)) update();
  }

  /** Discards all fragments, before other fields are rendered. */
  clear(): void {
    for (const { unsubscribe } of this.#fragments.values()) unsubscribe();
    this.remarks.clear();
    this.#fragments.clear();
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
