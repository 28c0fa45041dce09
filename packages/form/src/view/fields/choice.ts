import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { BooleanField, EnumField } from '../../model/field.js';
import { bind, type Wiring } from '../control.js';
import { selectIcon } from '../icons.js';
import type { View } from '../view.js';
import { shell } from './shell.js';

interface Choice {
  required: boolean;
  placeholder?: string;
  options: readonly { value: string; label: string }[];
}

/** On or off. */
export function booleanField(view: View, field: BooleanField, path: string): unknown {
  const value = view.form.value(path) === true;
  return shell(
    view,
    field,
    path,
    (wiring) => html`<input class="cf-switch" type="checkbox" role="switch" ${bind(view, path, wiring, { value })} />`,
  );
}

/** One of a few. */
export function enumField(view: View, field: EnumField, path: string): unknown {
  return shell(view, field, path, (wiring) => choice(view, path, field, wiring), { names: namesOf(field) });
}

/** Two or three short names of which one is always chosen fit side by side even in the narrowest frame. */
function isShort({ required, options }: Choice): boolean {
  const longest = Math.max(...options.map(({ label }) => label.length));
  return required && options.length > 1 && options.length < 4 && longest * options.length < 37;
}

/** How the label of a choice is tied to it. */
export function namesOf(of: Choice): 'pointer' | 'control' {
  return isShort(of) ? 'pointer' : 'control';
}

/** Segments where there is room for them, else a native select, whose list no frame clips. */
export function choice(view: View, path: string, of: Choice, wiring: Wiring): TemplateResult {
  if (isShort(of)) return segments(view, path, of, wiring);
  const { messages: m } = view;
  const { required, placeholder, options } = of;
  const value = view.text(path);
  return html`<div class="cf-select">
    <select class="cf-input" ?data-empty=${!value} ${bind(view, path, wiring, of)}>
      <option value="" ?hidden=${required} ?selected=${!value}>${placeholder ?? (required ? m.choose : m.none)}</option>
      ${options.map(
        (option) => html`<option value=${option.value} ?selected=${option.value === value}>${option.label}</option>`,
      )}
    </select>
    ${selectIcon}
  </div>`;
}

const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * A radio group as segments. Buttons with the role rather than radio inputs: an input's label would make "API token" the label
 * of two controls wherever the choice is named like the field it brings.
 */
function segments(view: View, path: string, { options }: Choice, wiring: Wiring): TemplateResult {
  const at = options.findIndex(({ value }) => value === view.text(path));
  const choose = (index: number): void => {
    view.type(path, options[index]?.value);
    view.form.leave(path);
  };
  const onKey = (event: KeyboardEvent): void => {
    const row = event.currentTarget as HTMLElement;
    const mirrored = row.matches(':dir(rtl)') && /Left|Right/.test(event.key);
    const step = (steps[event.key] ?? 0) * (mirrored ? -1 : 1);
    if (!step) return;
    event.preventDefault();
    const to = (Math.max(at, 0) + step + options.length) % options.length;
    choose(to);
    (row.children[to] as HTMLElement).focus();
  };
  return html`<div
    class="cf-segments"
    id=${wiring.id}
    role="radiogroup"
    aria-labelledby=${wiring.labelId ?? nothing}
    aria-describedby=${wiring.describedBy || nothing}
    aria-invalid=${wiring.invalid || nothing}
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
