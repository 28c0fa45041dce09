import { html, nothing } from 'lit/html.js';
import type { AccountOffer } from '../../model/account.js';
import { icon } from '../icons.js';
import { focusPathSoon, idOf } from '../focus.js';
import type { View } from '../view.js';

/** Returns the sentence that names the connected account. */
export const connectedAs = ({ messages: m }: View, name: string): string =>
  name ? m.accountConnectedAs(name) : m.accountConnected;

/** Renders the button that connects an account, and what happened last. */
export function accountOffer(view: View, path: string, { action, note, bad }: AccountOffer): unknown {
  const id = `${idOf(path)}-account`;
  return html`<div class="cf-account">
    <button
      class="cf-button"
      type="button"
      aria-describedby=${note ? id : nothing}
      @click=${() => void connect(view, path)}
    >
      <span class="cf-button-label">${action}</span>
    </button>
    <p class="cf-help ${bad ? 'cf-error' : ''}" id=${id} role="status">
      ${bad ? icon('alert') : nothing}<span>${note}</span>
    </p>
  </div>`;
}

async function connect({ form, announce }: View, path: string): Promise<void> {
  const connected = await form.connectAccount(path);
  if (connected === undefined) return;
  announce(connected);
  focusPathSoon(path);
}
