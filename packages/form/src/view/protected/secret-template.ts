import { html, nothing } from 'lit/html.js';
import type { Messages } from '../../messages/index.js';

/** A note under the control. */
export interface SecretNote {
  text: string;
  bad: boolean;
}

/** Everything around the value. None of it is secret. */
export interface SecretOptions {
  messages: Messages;
  /** Accessible name. */
  label: string;
  /** Help for the accessible description; it is displayed outside the control. */
  description: string;
  /**
   * Sentence that names where the value will be sent, and the organization for which it is stored.
   * Absent in a control whose value is sent together with another one's.
   */
  sentTo?: string | undefined;
  /** An error or another note. */
  note?: SecretNote | undefined;
  /** The longest possible note: space for it is reserved, so that no note changes the height. */
  longestNote: string;
  placeholder?: string | undefined;
  required?: boolean | undefined;
  /** Constant after the first render. */
  multiline?: boolean | undefined;
  /** Never masked: used for the names in a secret map. */
  plain?: boolean | undefined;
}

const blank = html`<svg width="16" height="16"></svg>`;

const sentLine = (text: string, lock: unknown): unknown => html`<p class="sent">${lock}<span>${text}</span></p>`;

/** Renders invisible content of the control's largest height. */
export const sizerTemplate = ({ sentTo, longestNote }: SecretOptions): unknown =>
  html`<div class="field">
      <div class="line"></div>
      ${sentTo ? sentLine(sentTo, blank) : nothing}
    </div>
    <p class="note">${blank}<span>${longestNote}</span></p>`;

/** What `belowTemplate` displays besides the options. */
export interface BelowState {
  isEmpty: boolean;
  /** Whether the value is displayed instead of masked. */
  shown: boolean;
  note: SecretNote | undefined;
  icons: { lock: unknown; alert: unknown };
  /** Shows or masks the value. */
  onToggle: () => void;
}

/** Renders everything visible except the value. */
export function belowTemplate(options: SecretOptions, { isEmpty, shown, note, icons, onToggle }: BelowState): unknown {
  const { messages: m, label, description, plain, sentTo, placeholder } = options;
  return html`<div class="field">
      <div class="line" aria-hidden="true">
        <span ?hidden=${!isEmpty}>${placeholder ?? ''}</span>
      </div>
      <div id="sent">${sentTo ? sentLine(sentTo, icons.lock) : nothing}</div>
    </div>
    <button type="button" ?hidden=${plain || isEmpty} @click=${onToggle}>
      <span aria-hidden="true">${shown ? m.hide : m.show}</span>
      <span class="unseen">${shown ? m.hideSecret(label) : m.showSecret(label)}</span>
    </button>
    <p class="note ${note?.bad ? 'bad' : ''}" id="note" role="status">
      ${note?.bad ? icons.alert : nothing}<span>${note?.text ?? ''}</span>
    </p>
    <span id="about" hidden>${description}</span>`;
}
