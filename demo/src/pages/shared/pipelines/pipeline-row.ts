import * as api from './api.js';
import { openDeleteDialog } from './delete-dialog.js';
import { createDetails } from './details.js';
import { announce, button, el, press, write } from './dom.js';
import type { Cleanup, PipelineSnapshot } from './shapes.js';
import { startPanel } from './start-panel.js';
import { statusLine } from './status-line.js';
import { watch } from './watch.js';

/**
 * Shows the pipeline of a connected input: `<pipeline-row tenant-id input-id input-name type-id
 * is-new saved-only>`. Offers to create a pipeline if there is none, unless the service can't run the
 * input (`saved-only`). Otherwise shows its status, pauses,
 * resumes and deletes it, and expands to its ingest address and log. Styled by the page's style
 * sheet.
 *
 * Dispatches `deleted` after the input itself was deleted. Unless the page prevents the default, the
 * list reloads.
 */
export class PipelineRow extends HTMLElement {
  // A page may render the row before it knows the type.
  static readonly observedAttributes = ['input-name', 'saved-only'];

  #stop: (() => void) | undefined;

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (!this.#stop || before === after) return;
    this.disconnectedCallback();
    this.connectedCallback();
  }

  connectedCallback(): void {
    const input = { tenantId: this.getAttribute('tenant-id') ?? '', inputId: this.getAttribute('input-id') ?? '' };
    this.#stop = show(this, input, {
      inputName: this.getAttribute('input-name') ?? '',
      typeId: this.getAttribute('type-id') ?? '',
      isNew: this.hasAttribute('is-new'),
      isSavedOnly: this.hasAttribute('saved-only'),
    });
  }

  disconnectedCallback(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.replaceChildren();
  }
}

/** Dispatched after an input was deleted, with its name. */
export type InputDeletedEvent = CustomEvent<{ inputName: string }>;

interface About {
  inputName: string;
  typeId: string;
  isNew: boolean;
  isSavedOnly: boolean;
}

/** Whether a person has paused it. One that the service holds back is enabled. */
const isPaused = ({ status, suspension }: PipelineSnapshot): boolean => status === 'Disabled' && suspension === null;

/** Builds the row inside `element` and keeps it up to date. Returns a function that stops it. */
function show(element: HTMLElement, input: api.Input, { inputName, typeId, isNew, isSavedOnly }: About): () => void {
  let snapshot: PipelineSnapshot | null | undefined;
  const group = el('div', { class: 'pipeline', role: 'group', 'aria-label': `Pipeline of ${inputName}` });
  const waiting = el('p', { class: 'pipeline-problem', 'data-tone': 'off', hidden: true });
  const bone = el('div', { class: 'pipeline-bone' });
  group.append(bone, waiting);
  element.replaceChildren(group);

  const row = watch(element, { ...input, show: update, fail });
  const problem = el('p', { class: 'pipeline-problem pipeline-action-error', role: 'alert', hidden: true });
  const toggle = button('Pause', inputName, 'secondary', () => void pauseOrResume());
  const remove = button('Delete', `pipeline of ${inputName}`, 'quiet', () => void askToDelete());
  const actions = el('div', { class: 'pipeline-actions' }, toggle);
  let line: ReturnType<typeof statusLine> | undefined;
  let details: ReturnType<typeof createDetails> | undefined;

  function update(next: PipelineSnapshot | null): void {
    const before = snapshot;
    snapshot = next;
    if (next === null) {
      if (before !== null) showStart();
      waiting.hidden = true;
      return;
    }
    if (!before || before.pipelineId !== next.pipelineId) showPipeline();
    line?.update(next);
    details?.update(next);
    write(toggle.firstElementChild ?? toggle, isPaused(next) ? 'Resume' : 'Pause');
  }

  function fail(message: string): void {
    if (line && snapshot) return line.fail(message);
    bone.hidden = true;
    waiting.hidden = false;
    write(waiting, `${message} Retrying …`);
  }

  /**
   * Replaces the content. If the old content had the keyboard focus, moves it to the new content.
   */
  function replace(...content: readonly HTMLElement[]): void {
    const hadFocus = group.contains(document.activeElement);
    group.replaceChildren(...content);
    if (hadFocus) group.querySelector<HTMLElement>('select, [aria-expanded]')?.focus();
  }

  function showStart(): void {
    end();
    const onBuilt = (): void => {
      announce(`${inputName} has a pipeline now.`);
      row.refresh();
    };
    const panel = isSavedOnly ? el('div', { class: 'pipeline-start' }) : startPanel(input, inputName, isNew, onBuilt);
    panel.append(
      button('Delete', inputName, 'quiet', () => openDeleteDialog(element, input, inputName, undefined, deleted)),
    );
    replace(panel, waiting);
  }

  function showPipeline(): void {
    end();
    line = statusLine();
    details = createDetails(input, { inputName, typeId, refresh: row.refresh });
    problem.hidden = true;
    actions.replaceChildren(toggle, details.opener, remove);
    replace(...line.parts, actions, problem, details.root);
  }

  async function pauseOrResume(): Promise<void> {
    const action = snapshot && isPaused(snapshot) ? 'resume' : 'pause';
    if (await press(toggle, problem, () => api.act(input, action))) {
      announce(`The pipeline of ${inputName} is ${action === 'pause' ? 'paused' : 'on again'}.`);
    }
    row.refresh();
  }

  async function askToDelete(): Promise<void> {
    const outputs = await api.outputs(input.tenantId).catch(() => []);
    const output = outputs.find(({ id }) => id === snapshot?.outputId);
    openDeleteDialog(element, input, inputName, output ? `“${output.name}”` : 'behind it', deleted);
  }

  function deleted(cleanup: Cleanup): void {
    api.forgetOutputs();
    if (cleanup === 'pipeline-only') {
      row.refresh();
      return;
    }
    const event: InputDeletedEvent = new CustomEvent('deleted', {
      bubbles: true,
      cancelable: true,
      detail: { inputName },
    });
    if (element.dispatchEvent(event)) location.assign('?kind=input&deleted');
  }

  function end(): void {
    details?.stop();
    [line, details] = [undefined, undefined];
  }
  return () => {
    row.stop();
    end();
  };
}

customElements.define('pipeline-row', PipelineRow);
