import { render } from 'lit/html.js';
import type { FormCommand } from '@connector-frame/core/protocol';
import type { Form } from '../model/form.js';
import type { FormState } from '../model/state.js';
import { createAnnouncer } from './announce.js';
import { fieldTemplate } from './fields/field.js';
import { ignoreStrayFiles } from './fields/file.js';
import { unfold } from './focus.js';
import { watchHeight } from './height.js';
import type { ViewOptions } from './options.js';
import { page } from './page/page.js';
import { colorProtected } from './protected/protected-sheets.js';
import { SecretControl, secretControls } from './protected/secret-control.js';
import { View } from './view.js';

/**
 * Renders `form` in `host` for the lifetime of the document; call it once per document. `host`
 * contains the page's skeleton, which is visible while the form loads. Everything except the secret
 * controls and the error summary is in the document itself, so that the host's style sheets reach
 * it by class name; `css/README.md` lists the names.
 */
export function mountView(form: Form, host: HTMLElement, options: ViewOptions): void {
  const { messages, tokens, onHeight, onCovered } = options;
  colorProtected(tokens);
  const skeleton = host.querySelector<HTMLElement>('.cf-skeleton');
  const content = document.createElement('div');
  host.append(content);
  const view = new View(form, options, createAnnouncer(host), fieldTemplate);
  const actions = {
    onSave: () => settle(form, (confirm) => form.save(confirm)),
    onTest: () => settle(form, (confirm) => form.test(confirm)),
  };
  host.addEventListener('covered', () => onCovered?.(), { once: true });
  let shown: FormState | undefined;
  const paint = (): void => {
    const before = shown;
    shown = form.state;
    const asks = isAsking(shown);
    if (fieldsOf(shown) !== fieldsOf(before)) view.clear();
    if (skeleton) skeleton.hidden = shown.phase !== 'loading';
    render(page(view, shown, actions), content);
    // The leave question takes the focus, and returns it when it closes: to Cancel, if the element
    // that had it was replaced, as Cancel itself was.
    if (asks !== isAsking(before)) {
      const isGone = last instanceof Node && !last.isConnected;
      focus(asks || isGone ? content.querySelector(asks ? '.cf-keep' : '.cf-cancel') : last);
    }
    const { phase } = shown;
    if (phase !== before?.phase) view.announce(phase === 'loading' || phase === 'saved' ? messages[phase] : '');
  };
  // Record the element inside a secret control: focusing the control as a whole would select the
  // entered text.
  host.addEventListener('focusin', (event) => {
    if (!isAsking(form.state)) [last] = event.composedPath();
  });
  ignoreStrayFiles();
  form.subscribe('*', paint);
  paint();
  if (onHeight) watchHeight(host, onHeight);
}

const fieldsOf = (state: FormState | undefined): unknown => state && 'subject' in state && state.subject.fields;

/** The element that last had the focus. No element here has it while the host page does. */
let last: EventTarget | undefined;

const isAsking = (state: FormState | undefined): boolean => state?.phase === 'editing' && state.leaving === true;

const focus = (element: unknown): void => {
  if (element instanceof HTMLElement) element.focus();
};

/**
 * Runs a command of the host page, whose own button replaces one of the form's, by clicking the
 * form's button. Does nothing if that button is absent or disabled. Rejects `save` and `test` until
 * the user has seen where each entered secret will be sent, and while the user is typing a secret:
 * otherwise a host page could test each character, or send the secret to an address that it hides.
 */
export async function runCommand(command: FormCommand, form: Pick<Form, 'reject'>): Promise<void> {
  if (command !== 'cancel') {
    const isTyping = document.hasFocus() && document.activeElement instanceof SecretControl;
    if (isTyping) return form.reject('command_while_typing');
    // The check can outlast a whole connection test, which the repetition would then run again.
    if (pending.has(command)) return;
    pending.add(command);
    const areSeen = await areDestinationsSeen(false).finally(() => pending.delete(command));
    if (!areSeen) return form.reject('destination_not_seen');
  }
  document.querySelector<HTMLElement>(`.cf-footer > .cf-${command}`)?.click();
}

/** Commands that wait for the check of the destinations. */
const pending = new Set<FormCommand>();

/** Returns whether the user could see where each entered secret will be sent. */
async function areDestinationsSeen(scroll: boolean): Promise<boolean> {
  for (const control of secretControls())
    if (control.value !== '' && !(await control.confirmDestination(scroll))) return false;
  return true;
}

/** Runs a save or test, then moves focus to the error summary, or back to where it was. */
async function settle(form: Form, action: Form['save']): Promise<void> {
  // Leave the focus on the host page if its own button triggered this.
  const here = document.hasFocus() && document.activeElement !== document.body;
  for (const control of secretControls()) await control.settled();
  // Check the destinations again: the host page may cover everything but the buttons.
  await action(() => areDestinationsSeen(true));
  // Unfold all secrets, with or without errors: the host page can observe the height.
  if (form.rejected) for (const { path } of [...form.summary, ...form.secretEntries()]) unfold(path);
  if (form.rejected) document.getElementById('cf-summary')?.focus();
  // The fields are inert while saving, which blurs the one in which the user pressed Enter.
  else if (here && document.activeElement === document.body) focus(last);
}
