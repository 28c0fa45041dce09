import { html, nothing, type TemplateResult } from 'lit/html.js';
import { icon } from '../icons.js';

interface Note {
  title: string;
  detail?: unknown;
  good?: boolean;
  /** Level of the heading; 2 by default, 1 for a note that is the only content. */
  level?: number;
  /** `alert` is announced immediately; omit it where a live region announces the note. */
  role?: 'alert';
  /** A button that addresses the problem. */
  action?: { label: string; run: () => unknown } | false | '' | undefined;
}

/** Renders a framed note about the form as a whole. */
export function note({ title, detail, good, level = 2, role, action }: Note): TemplateResult {
  return html`<div class="cf-note ${good ? 'cf-good' : 'cf-bad'}" role=${role ?? nothing}>
    ${icon(good ? 'check' : 'alert')}
    <div>
      <h2 class="cf-note-title" aria-level=${level}>${title}</h2>
      <p class="cf-note-detail">${detail}</p>
      ${action ? html`<button class="cf-button" type="button" @click=${action.run}>${action.label}</button>` : nothing}
    </div>
  </div>`;
}
