import { html, type TemplateResult } from 'lit/html.js';
import type { View } from '../view.js';

/**
 * Renders, in place of the footer, the question whether to discard unsaved edits, after the host
 * asked to unload the form.
 */
export function leaveQuestion({ form, messages: m }: View): TemplateResult {
  const keep = (): void => form.keepEditing();
  const onKey = ({ key }: KeyboardEvent): void => {
    if (key === 'Escape') keep();
  };
  return html`<div
    class="cf-footer cf-leave"
    role="alertdialog"
    aria-modal="true"
    aria-labelledby="cf-leave"
    @keydown=${onKey}
  >
    <h2 class="cf-leave-title" id="cf-leave">${m.leave}</h2>
    <button class="cf-button cf-discard" type="button" @click=${() => form.discard()}>${m.discard}</button>
    <button class="cf-button cf-keep" type="button" @click=${keep}>${m.keepEditing}</button>
  </div>`;
}
