import { noChange } from 'lit/html.js';
import { Directive, directive, type ElementPart } from 'lit/directive.js';
import { afterPress } from './after-press.js';
import type { View } from './view.js';

/** What a field passes to its control. */
export interface Wiring {
  id: string;
  /** Ids of the notes below. */
  describedBy: string;
  invalid: boolean;
}

interface Binding {
  required?: boolean;
  /** Accessible name of a control without a label, such as a list row's. */
  name?: string;
  /** Displayed text, or whether the control is checked. Default: the text of the path's value. */
  value?: string | boolean;
  /** Converts the control's text to the stored value. */
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
    // Set the value only if it differs: setting it would discard a half-typed date, or move the
    // caret.
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

/** Binds a control to a path: value, name, description, state and input. */
export const bind = directive(Bind);
