/**
 * Functions that run inside the form's page. They are sent as text, so they must be self-contained.
 */
import type { Leaf } from './expected-form.js';

/** The state of a form. Pointers are the form's own. */
export interface FormSnapshot {
  /** Label by pointer. */
  labels: Record<string, string>;
  /** Pointers and labels of the summary's links, in order. */
  summary: { path: string; label: string }[];
  /** Error message by pointer of the field. */
  errors: Record<string, string>;
  /** Pointers of stored secrets. */
  kept: string[];
}

/** Expands all sections and returns the state of the form. */
export function snapshot(): FormSnapshot {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  const of = (id: string, suffix: RegExp): string => id.slice(2).replace(suffix, '');
  const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
  const textOf = (element: HTMLElement): string => element.textContent.trim().replaceAll(/\s+/g, ' ');
  return {
    labels: Object.fromEntries(all('.cf-label').map((label) => [of(label.id, /-label$/), textOf(label)])),
    summary: Array.from(document.getElementById('cf-summary')?.shadowRoot?.querySelectorAll('a') ?? [], (link) => ({
      path: (link.getAttribute('href') ?? '').slice(3),
      label: textOf(link),
    })),
    errors: Object.fromEntries([
      ...all('.cf-error').map((error) => [of(error.id, /-\d$/), textOf(error)]),
      ...all('cf-secret').flatMap((secret) => {
        const error = secret.shadowRoot?.querySelector<HTMLElement>('.note.bad');
        return error ? [[of(secret.id, /$/), textOf(error)]] : [];
      }),
    ]),
    kept: all('.cf-secret')
      .filter((field) => field.querySelector('.cf-kept'))
      .map((field) => field.id.slice(2)),
  };
}

/**
 * Fills in controls with the events that user input causes. Returns the pointers that have no
 * control.
 */
export function fill(leaves: Leaf[]): string[] {
  const type = (control: HTMLElement & { value: string }, text: string): void => {
    control.value = text;
    control.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
  };
  const set = (element: HTMLElement, { value, words }: Leaf): boolean => {
    if (typeof value === 'object') {
      const add = element.querySelector<HTMLButtonElement>(':scope > .cf-add');
      add?.click();
      return add !== null;
    }
    if (element instanceof HTMLInputElement && element.type === 'checkbox') {
      if (element.checked !== value) element.click();
      return element.checked === value;
    }
    if (element.getAttribute('role') === 'radiogroup') {
      const button = [...element.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === words);
      button?.click();
      return button !== undefined;
    }
    const inner = element.shadowRoot?.querySelector<HTMLInputElement | HTMLTextAreaElement>('input, textarea');
    const control = inner ?? element;
    if (
      !(control instanceof HTMLInputElement) &&
      !(control instanceof HTMLTextAreaElement) &&
      !(control instanceof HTMLSelectElement)
    )
      return false;
    type(control, control.type === 'datetime-local' ? String(value).replace(/(:00)?Z$/, '') : String(value));
    return true;
  };
  return leaves.flatMap((leaf) => {
    const element = document.getElementById(`cf${leaf.path}`);
    return element && set(element, leaf) ? [] : [leaf.path];
  });
}

export function pressSave(): void {
  document.querySelector<HTMLElement>('.cf-footer > .cf-save')?.click();
}
