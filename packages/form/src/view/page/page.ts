import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { FormState, FormSubject } from '../../model/state.js';
import { icon } from '../icons.js';
import type { View } from '../view.js';
import { footer } from './footer.js';
import { leaveQuestion } from './leave-question.js';
import { note } from './note.js';
import { summary } from './summary.js';

/** Handlers of the form's buttons. */
export interface PageActions {
  onSave: () => Promise<void>;
  onTest: () => Promise<void>;
}

/** Renders the whole form in any of its states. */
export function page(view: View, state: FormState, actions: PageActions): unknown {
  const { form, messages: m } = view;
  if (state.phase === 'load_failed') {
    const { message, hint } = state.failure;
    const action = state.canRetry && { label: m.tryAgain, run: () => form.retry() };
    const failed = note({ title: message, detail: hint, level: 1, role: 'alert', action });
    return html`<div class="cf-body">${failed}</div>`;
  }
  if (state.phase === 'saved') {
    return [header(state.subject), html`<div class="cf-body">${note({ title: m.saved, good: true })}</div>`];
  }
  // While loading, the page's own skeleton is visible.
  return state.phase === 'editing' ? editing(view, state, actions) : nothing;
}

type Editing = Extract<FormState, { phase: 'editing' }>;

function editing(view: View, state: Editing, { onSave, onTest }: PageActions): TemplateResult {
  const { messages: m } = view;
  const { subject, saving, leaving } = state;
  const testing = state.test.state === 'running';
  const { fields, advanced, canTest, mode } = subject;
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (!saving) void onSave();
  };
  const fold = html`<details class="cf-fold">
    <summary>${icon('chevron')}${m.advanced}</summary>
    <div class="cf-nest">${advanced.map((field) => view.field(field))}</div>
  </details>`;
  const lock = html`<p class="cf-lock">${icon('lock')}<span>${m.secretNote}</span></p>`;
  return html`<form class="cf-form" novalidate @submit=${onSubmit}>
    ${header(subject)}
    <div class="cf-body" ?inert=${saving || leaving}>
      ${summary(view)}${fields.map((field) => view.field(field))}${advanced.length ? fold : nothing}
      ${[...fields, ...advanced].some(({ kind }) => kind === 'secret') ? lock : nothing}
    </div>
    <div class="cf-outcome" role="status" ?inert=${leaving}>
      <span class="cf-hidden">${saving ? m.saving : testing ? m.testing : nothing}</span>${outcome(view, state)}
    </div>
    ${leaving ? leaveQuestion(view) : footer(view, { canTest, testing, saving, edit: mode === 'edit', onTest })}
  </form>`;
}

/** Replaces an icon that fails to load with the monogram. */
function drop({ currentTarget: mark }: Event & { currentTarget: Element }): void {
  mark.nextElementSibling?.removeAttribute('hidden');
  mark.remove();
}

/** Renders the vendor's icon, the title, the subtitle, what the connector can't do, and its address. */
function header({ icon, monogram, hue, title, subtitle, limitation, address }: FormSubject): TemplateResult {
  return html`<header class="cf-header">
    <div class="cf-tile" aria-hidden="true">
      ${icon ? html`<img class="cf-mark" src=${icon} width="24" height="24" alt="" @error=${drop} />` : nothing}
      <span class="cf-monogram" .style=${`--hue: ${hue}`} ?hidden=${icon}>${monogram}</span>
    </div>
    <div>
      <h1 class="cf-title">${title}</h1>
      <p class="cf-subtitle">${subtitle}</p>
      ${limitation ? html`<p>${limitation}</p>` : nothing}
      ${address ? html`<p class="cf-address">${address}</p>` : nothing}
    </div>
  </header>`;
}

/** Renders the outcome of the last save or test, next to the buttons, where the user looks. */
function outcome({ form, messages: m }: View, { expired, failure, test }: Editing): unknown {
  if (failure) {
    const label = expired ? m.continue : failure.action && m.reload;
    const action = label && { label, run: () => form.retry() };
    return note({ title: failure.message, detail: failure.hint, role: 'alert', action });
  }
  if (test.state === 'passed') {
    return note({ title: m.testPassed, detail: m.testDetail(test.durationMs, test.summary), good: true });
  }
  return test.state === 'failed' ? note({ title: test.failure.message, detail: test.failure.hint }) : nothing;
}
