import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { BooleanField, EnumField } from '../../model/field.js';
import { bind, type Wiring } from '../control.js';
import { icon } from '../icons.js';
import type { View } from '../view.js';
import { shell } from './shell.js';

interface Choice {
  required: boolean;
  placeholder?: string;
  options: readonly { value: string; label: string }[];
}

/** Renders a switch. */
export function booleanField(view: View, field: BooleanField, path: string): unknown {
  const value = view.form.value(path) === true;
  return shell(
    view,
    field,
    path,
    (wiring) => html`<input class="cf-switch" type="checkbox" role="switch" ${bind(view, path, wiring, { value })} />`,
  );
}

/** Renders a choice of one option. */
export function enumField(view: View, field: EnumField, path: string): unknown {
  return shell(view, field, path, (wiring) => choice(view, path, field, wiring));
}

/**
 * Renders two or three short options, which fit side by side even in a narrow frame, as segments;
 * otherwise a native select, whose list the frame does not clip.
 */
export function choice(view: View, path: string, of: Choice, wiring: Wiring): TemplateResult {
  const { required, placeholder, options } = of;
  const longest = Math.max(...options.map(({ label }) => label.length));
  // A segment cannot be deselected, so use segments only if the choice is required.
  if (required && options.length > 1 && options.length < 4 && longest * options.length < 37) {
    return segments(view, path, of, wiring);
  }
  const { messages: m } = view;
  const value = view.text(path);
  return html`<div class="cf-select">
    <select class="cf-input" ?data-empty=${!value} ${bind(view, path, wiring, of)}>
      <option value="" ?hidden=${required} ?selected=${!value}>${placeholder ?? (required ? m.choose : m.none)}</option>
      ${options.map(
        (option) => html`<option value=${option.value} ?selected=${option.value === value}>${option.label}</option>`,
      )}
    </select>
    ${icon('select')}
  </div>`;
}

/**
 * Renders a radio group as segments. Uses buttons with `role="radio"` instead of radio inputs: the
 * label of an input would make "API token" the label of two controls wherever an option has the
 * same name as the field that it reveals.
 */
function segments(view: View, path: string, { options }: Choice, { id, describedBy, invalid }: Wiring): TemplateResult {
  const at = options.findIndex(({ value }) => value === view.text(path));
  const choose = (index: number): void => {
    view.type(path, options[index]?.value);
    view.form.leave(path);
  };
  const onKey = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const { key, currentTarget } = event;
    if (!key.startsWith('Arrow')) return;
    const mirrored = document.dir === 'rtl' && /Left|Right/.test(key);
    const step = /[RD]/.test(key) === mirrored ? -1 : 1;
    event.preventDefault();
    const to = (Math.max(at, 0) + step + options.length) % options.length;
    choose(to);
    currentTarget.querySelectorAll('button')[to]?.focus();
  };
  return html`<div
    class="cf-segments"
    id=${id}
    role="radiogroup"
    aria-labelledby="${id}-label"
    aria-describedby=${describedBy || nothing}
    aria-invalid=${invalid || nothing}
    @keydown=${onKey}
  >
    ${options.map(
      ({ label }, index) =>
        html`<button
          class="cf-segment"
          type="button"
          role="radio"
          aria-checked=${index === at}
          tabindex=${index === Math.max(at, 0) ? 0 : -1}
          @click=${() => choose(index)}
        >
          ${label}
        </button>`,
    )}
  </div>`;
}
