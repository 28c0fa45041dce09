import * as api from './api.js';
import { announce, button, el, press } from './dom.js';
import type { Cleanup } from './shapes.js';

interface Policy {
  cleanup: Cleanup;
  label: string;
  /** Explains what is deleted and what is kept. */
  gone: (input: string, output: string) => string;
}

const policies: readonly Policy[] = [
  {
    cleanup: 'pipeline-only',
    label: 'Only the pipeline',
    gone: (input, output) =>
      `Gone: the pipeline, its counts, its log, and records still waiting in it. ${input} stays connected, ${output} stays too.`,
  },
  {
    cleanup: 'keep-output',
    label: 'The connection, but keep the destination',
    gone: (input, output) => `Gone: the pipeline, and ${input} with its credentials. ${capital(output)} stays.`,
  },
  {
    cleanup: 'full',
    label: 'Everything',
    gone: (input, output) =>
      `Gone: the pipeline, ${input} with its credentials, and ${output} with its own. What another pipeline uses stays.`,
  },
];

let made = 0;

/**
 * Opens a dialog that asks what to delete, and deletes it.
 * @param outputName `undefined` if the input has no pipeline; only the input can be deleted then
 * @param done called after the deletion
 */
export function openDeleteDialog(
  container: HTMLElement,
  input: api.Input,
  inputName: string,
  outputName: string | undefined,
  done: (cleanup: Cleanup) => void,
): void {
  const id = `delete-${(made += 1)}`;
  const problem = el('p', { class: 'pipeline-problem', 'data-tone': 'bad', role: 'alert', hidden: true });
  const [named, target] = [`“${inputName}”`, outputName === undefined ? '' : `the destination ${outputName}`];
  const choices = el(
    'fieldset',
    {},
    el('legend', { class: 'hidden' }, 'What to delete'),
    ...policies.map(({ cleanup, label, gone }, index) =>
      el(
        'label',
        { class: 'choice' },
        el('input', {
          type: 'radio',
          name: 'cleanup',
          value: cleanup,
          checked: index === 0,
          'aria-describedby': `${id}-${cleanup}`,
        }),
        el('span', {}, el('b', {}, label), el('span', { id: `${id}-${cleanup}` }, gone(named, target))),
      ),
    ),
  );
  const remove = button('Delete', '', 'danger', () => void run());
  const cancel = button('Cancel', '', 'secondary', () => dialog.close());
  const dialog = el(
    'dialog',
    { class: 'ask', 'aria-labelledby': id },
    el('h2', { id }, outputName === undefined ? `Delete ${named}?` : `Delete the pipeline of ${named}?`),
    outputName === undefined ? el('p', {}, `Gone: ${named} with its credentials. It has no pipeline.`) : choices,
    problem,
    el('div', { class: 'ask-buttons' }, cancel, remove),
  );

  async function run(): Promise<void> {
    const chosen = choices.querySelector<HTMLInputElement>(':checked')?.value;
    const cleanup = policies.find((policy) => outputName !== undefined && policy.cleanup === chosen)?.cleanup ?? 'full';
    if (!(await press(remove, problem, () => api.remove(input, cleanup)))) return;
    dialog.close();
    announce(cleanup === 'pipeline-only' ? `The pipeline of ${inputName} is deleted.` : `${inputName} is deleted.`);
    done(cleanup);
  }
  dialog.addEventListener('close', () => dialog.remove());
  container.append(dialog);
  dialog.showModal();
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
