import { noChange } from 'lit/html.js';
import { Directive, directive, type ElementPart } from 'lit/directive.js';
import type { View } from './view.js';

/** How a control stands in its field. */
export interface Wiring {
  id: string;
  /** Id of the label, for a control that no `<label for>` can name. */
  labelId?: string;
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
  /** What is stored of the control's value. */
  store?(value: string): unknown;
}

type Control = HTMLElement & { value: string; checked?: boolean };

class Bind extends Directive {
  #listens = false;
  #store = (): void => undefined;
  #leave = (): void => undefined;

  render(_view: View, _path: string, _wiring: Wiring, _binding?: Binding): unknown {
    return noChange;
  }

  override update({ element }: ElementPart, [view, path, wiring, binding = {}]: Parameters<this['render']>): unknown {
    const control = element as Control;
    const { required, name, value = view.text(path), store = (text: string) => text } = binding;
    const set = (attribute: string, text: string | false | undefined): void =>
      text ? control.setAttribute(attribute, text) : control.removeAttribute(attribute);
    set('id', wiring.id);
    set('aria-label', name);
    set('aria-describedby', wiring.describedBy);
    set('aria-required', required && 'true');
    set('aria-invalid', wiring.invalid && 'true');
    // Only what differs is set: setting a half-typed date, or text under a caret, would lose it.
    if (typeof value === 'boolean') control.checked = value;
    else if (control.value !== value) control.value = value;
    this.#store = () => view.type(path, typeof value === 'boolean' ? control.checked : store(control.value));
    this.#leave = () => view.form.leave(path);
    if (!this.#listens) {
      this.#listens = true;
      control.addEventListener('input', () => this.#store());
      control.addEventListener('blur', () => this.#leave());
    }
    return noChange;
  }
}

/** Ties a control to a path: value, name, description, state, and what is typed. */
export const bind = directive(Bind);
