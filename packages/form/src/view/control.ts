import { noChange } from 'lit/html.js';
import { Directive, directive, type ElementPart } from 'lit/directive.js';
import { afterPress } from './after-press.js';
import type { View } from './view.js';

/** How a control stands in its field. */
export interface Wiring {
  id: string;
  /** Ids of the lines below, and their text for a control whose shadow root can't point at them. */
  describedBy: string;
  description: string;
  invalid: boolean;
}

interface Binding {
  required?: boolean;
  /** Accessible name of a control that no label names, such as a row's. */
  name?: string;
  /** What the control shows: text, or whether it is checked. Default: the text of the path's value. */
  value?: string | boolean;
  /** What is stored of the control's text. */
  store?: (text: string) => unknown;
}

type Control = HTMLElement & { value: string; checked?: boolean };

class Bind extends Directive {
  #listens = false;
  #store = (): void => undefined;
  #leave = (): void => undefined;

  render(_view: View, _path: string, _wiring: Wiring, _binding?: Binding): unknown {
    return noChange;
  }

  override update(
    { element }: ElementPart & { element: Control },
    [view, path, wiring, binding = {}]: Parameters<this['render']>,
  ): unknown {
    const { required, name, value = view.text(path), store = (text) => text } = binding;
    const attributes = {
      id: wiring.id,
      'aria-label': name,
      'aria-describedby': wiring.describedBy,
      'aria-required': required,
      'aria-invalid': wiring.invalid,
    };
    for (const [attribute, text] of Object.entries(attributes)) {
      if (text) element.setAttribute(attribute, `${text}`);
      else element.removeAttribute(attribute);
    }
    // Only what differs is set: setting a half-typed date, or text under a caret, would lose it.
    if (typeof value === 'boolean') element.checked = value;
    else if (element.value !== value) element.value = value;
    this.#store = () => view.type(path, typeof value === 'boolean' ? element.checked : store(element.value));
    this.#leave = () => view.form.leave(path);
    if (!this.#listens) {
      this.#listens = true;
      element.addEventListener('input', () => this.#store());
      element.addEventListener('blur', () => afterPress(this.#leave));
    }
    return noChange;
  }
}

/** Ties a control to a path: value, name, description, state, and what is typed. */
export const bind = directive(Bind);
