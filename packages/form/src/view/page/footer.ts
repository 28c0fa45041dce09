import { html, nothing, type TemplateResult } from 'lit/html.js';
import { icon } from '../icons.js';
import type { View } from '../view.js';

interface FooterState {
  canTest: boolean;
  testing: boolean;
  saving: boolean;
  edit: boolean;
  onTest: () => Promise<void>;
}

/**
 * Renders Test on the left, Cancel and Save on the right; in a narrow frame Save comes first, at
 * full width.
 */
export function footer(
  { form, messages: m }: View,
  { canTest, testing, saving, edit, onTest }: FooterState,
): TemplateResult {
  const busy = testing || saving;
  const test = html`<button
    class="cf-button cf-test"
    type="button"
    aria-busy=${testing}
    aria-disabled=${busy}
    @click=${() => busy || void onTest()}
  >
    ${label(m.test, testing)}
  </button>`;
  return html`<footer class="cf-footer">
    ${canTest ? test : nothing}
    <button class="cf-button cf-cancel" type="button" @click=${() => form.cancel()}>${m.cancel}</button>
    <button class="cf-button cf-save" type="submit" aria-busy=${saving} aria-disabled=${saving}>
      ${label(edit ? m.saveChanges : m.save, saving)}
    </button>
  </footer>`;
}

/** Renders a button label, which stays visible beside the spinner. */
function label(text: string, busy: boolean): TemplateResult {
  return html`<span class="cf-button-label">${busy ? icon('ring') : nothing}${text}</span>`;
}
