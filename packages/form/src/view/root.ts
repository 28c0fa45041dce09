import { render } from 'lit/html.js';
import type { FormCommand } from '@connector-frame/core/protocol';
import type { Form } from '../model/form.js';
import type { FormState } from '../model/state.js';
import { createAnnouncer } from './announce.js';
import { fieldTemplate } from './fields/field.js';
import { refuseStrayFiles } from './fields/file.js';
import { unfold } from './focus.js';
import { watchHeight } from './height.js';
import type { ViewOptions } from './options.js';
import { page } from './page/page.js';
import { colorProtected } from './protected/protected-sheets.js';
import { SecretControl, secretControls } from './protected/secret-control.js';
import { View } from './view.js';
import { warm } from './warm.js';

/**
 * Shows `form` in `host` for as long as the document lives: once per document. `host` holds the page's skeleton, which is seen
 * while the form loads. All but the secret controls is in the document itself, so that style sheets of the host reach it by class
 * name; `css/README.md` lists the names.
 */
export function mountView(form: Form, host: HTMLElement, { messages, tokens, onHeight, onCovered }: ViewOptions): void {
  colorProtected(tokens);
  const skeleton = host.querySelector<HTMLElement>('.cf-skeleton');
  const content = document.createElement('div');
  host.append(content);
  const view = new View(form, messages, createAnnouncer(host), fieldTemplate);
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
    // The question takes the focus, and gives it back.
    if (asks !== isAsking(before)) focus(asks ? content.querySelector('.cf-keep') : last);
    const said = { loading: messages.loading, saved: messages.saved, load_failed: '', editing: '' }[shown.phase];
    if (shown.phase !== before?.phase) view.announce(said);
  };
  // Inside of a secret, too: focus given to the control as a whole would select what is typed there.
  host.addEventListener('focusin', (event) => {
    if (!isAsking(form.state)) [last] = event.composedPath();
  });
  refuseStrayFiles();
  form.subscribe('*', paint);
  paint();
  warm(view);
  if (onHeight) watchHeight(host, onHeight);
}

const fieldsOf = (state: FormState | undefined): unknown => state && 'subject' in state && state.subject.fields;

/** Where the person was last. While the page around has the focus, nothing in here has. */
let last: EventTarget | undefined;

const isAsking = (state: FormState | undefined): boolean => state?.phase === 'editing' && state.leaving === true;

const focus = (element: unknown): void => {
  if (element instanceof HTMLElement) element.focus();
};

/**
 * A page's own button stands for one of the form's. It does what that one does, which may be nothing, or not be there. Typed
 * secrets go only where the person has seen that they go, and not while they are being typed: a page could otherwise try each
 * of its characters, or send it to an address that it keeps out of sight.
 */
export async function runCommand(command: FormCommand, form: Pick<Form, 'refuse'>): Promise<void> {
  if (command !== 'cancel') {
    const isTyping = document.hasFocus() && document.activeElement instanceof SecretControl;
    if (isTyping) return form.refuse('command_while_typing');
    if (!(await areDestinationsSeen(false))) return form.refuse('destination_not_seen');
  }
  document.querySelector<HTMLElement>(`.cf-footer > .cf-${command}`)?.click();
}

/** Whether the person could see where each typed secret will be sent. */
async function areDestinationsSeen(scroll: boolean): Promise<boolean> {
  for (const control of secretControls())
    if (control.value !== '' && !(await control.confirmDestination(scroll))) return false;
  return true;
}

/** After a save or a test, focus goes to the summary of what to fix, or back to where it was. */
async function settle(form: Form, action: Form['save']): Promise<void> {
  // On the page around, whose own button may have done this, the person stays.
  const here = document.hasFocus() && document.activeElement !== document.body;
  for (const control of secretControls()) await control.settled();
  // A page may cover all of the form but its buttons.
  await action(() => areDestinationsSeen(true));
  // Secrets are unfolded whether something is wrong with them or not: the page can see the height.
  if (form.refused) for (const { path } of [...form.summary, ...form.secretEntries()]) unfold(path);
  if (form.refused) document.getElementById('cf-summary')?.focus();
  // While saving, the fields are inert, which takes focus from the one that Enter was pressed in.
  else if (here && document.activeElement === document.body) focus(last);
}
