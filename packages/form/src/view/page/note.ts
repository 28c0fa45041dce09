import { html, nothing, type TemplateResult } from 'lit/html.js';
import { icon } from '../icons.js';

interface Note {
  title: string;
  detail?: unknown;
  good?: boolean;
  /** Of the heading; 2 unless it stands alone. */
  level?: number;
  /** `alert` is read out at once, and left out where the live region says it. */
  role?: 'alert';
  /** What a press does about it. */
  action?: { label: string; run: () => unknown } | false | undefined;
}

/** A framed remark on the form as a whole. */
export function note({ title, detail, good, level, role, action }: Note): TemplateResult {
  return html`<div class="cf-note ${good ? 'cf-good' : 'cf-bad'}" role=${role ?? nothing}>
    ${good ? icon('check') : icon('alert')}
    <div>
      <h2 class="cf-note-title" aria-level=${level ?? 2}>${title}</h2>
      <p class="cf-note-detail">${detail}</p>
      ${action ? html`<button class="cf-button" type="button" @click=${action.run}>${action.label}</button>` : nothing}
    </div>
  </div>`;
}
