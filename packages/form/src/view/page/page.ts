import { html, nothing, type TemplateResult } from 'lit/html.js';
import type { FormState, FormSubject } from '../../model/state.js';
import { chevronIcon, lockIcon } from '../icons.js';
import type { View } from '../view.js';
import { footer } from './footer.js';
import { note } from './note.js';
import { summary } from './summary.js';

/** What the person's presses do. */
export interface PageActions {
  onSave(): Promise<void>;
  onTest(): Promise<void>;
}

/** The whole form in any of its states. */
export function page(view: View, state: FormState, actions: PageActions): unknown {
  const { form, messages: m } = view;
  switch (state.phase) {
    case 'loading':
      return nothing;
    case 'load_failed': {
      const { message, hint } = state.failure;
      const action = state.canRetry && { label: m.tryAgain, run: () => form.retry() };
      return html`<div class="cf-body">
        ${note({ title: message, detail: hint, level: 1, role: 'alert', action })}
      </div>`;
    }
    case 'saved':
      return [header(state.subject), html`<div class="cf-body">${note({ title: m.saved, good: true })}</div>`];
    case 'editing':
      return editing(view, state, actions);
  }
}

type Editing = Extract<FormState, { phase: 'editing' }>;

function editing(view: View, state: Editing, { onSave, onTest }: PageActions): TemplateResult {
  const { messages: m } = view;
  const { subject, saving, test } = state;
  const { fields, advanced, canTest, mode } = subject;
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (!saving) void onSave();
  };
  const fold = html`<details class="cf-fold">
    <summary>${chevronIcon}${m.advanced}</summary>
    <div class="cf-nest">${advanced.map((field) => view.field(field))}</div>
  </details>`;
  const lock = html`<p class="cf-lock">${lockIcon}<span>${m.secretNote}</span></p>`;
  return html`<form class="cf-form" novalidate @submit=${onSubmit}>
    ${header(subject)}
    <div class="cf-body" ?inert=${saving}>
      ${summary(view)}${fields.map((field) => view.field(field))}${advanced.length ? fold : nothing}
      ${[...fields, ...advanced].some(({ kind }) => kind === 'secret') ? lock : nothing}${outcome(view, state)}
    </div>
    ${footer(view, { canTest, testing: test.state === 'running', saving, edit: mode === 'edit', onTest })}
  </form>`;
}

/**
 * The vendor's mark, the connector's name, one line of what it brings. The monogram lies behind the mark, hidden for as long as
 * that is there; the mark goes when it can't be drawn.
 */
function header({ icon, monogram, title, subtitle }: FormSubject): TemplateResult {
  const drop = (event: Event): void => (event.target as HTMLElement).remove();
  return html`<header class="cf-header">
    <div class="cf-tile" aria-hidden="true">
      ${icon && html`<img class="cf-mark" src=${icon} alt="" @error=${drop} />`}
      <span class="cf-monogram">${monogram}</span>
    </div>
    <div>
      <h1 class="cf-title">${title}</h1>
      <p class="cf-subtitle">${subtitle}</p>
    </div>
  </header>`;
}

/** How the last save or test ended. The nearest to the buttons, where the person looks. */
function outcome({ form, messages: m }: View, { expired, failure, test }: Editing): unknown {
  const run = (): unknown => form.retry();
  if (expired)
    return note({ title: m.expired, detail: m.expiredDetail, role: 'alert', action: { label: m.continue, run } });
  if (failure) {
    const action = failure.action && { label: m.reload, run };
    return note({ title: failure.message, detail: failure.hint, role: 'alert', action });
  }
  if (test.state === 'passed') {
    return note({ title: m.testPassed, detail: m.testDetail(test.durationMs, test.summary), good: true });
  }
  return test.state === 'failed' ? note({ title: test.failure.message, detail: test.failure.hint }) : nothing;
}
