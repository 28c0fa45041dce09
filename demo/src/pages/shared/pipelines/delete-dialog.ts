import * as api from './api.js';
import { announce, button, el, press } from './dom.js';
import type { Cleanup } from './shapes.js';

interface Policy {
  cleanup: Cleanup;
  label: string;
  /** Explains what is deleted and what is kept. */
  effect: (input: string, output: string) => string;
}

const policies: readonly Policy[] = [
  {
    cleanup: 'pipeline-only',
    label: 'Only the pipeline',
    effect: (input, output) =>
      `Deletes the pipeline with its counts, its log and its buffered records. Keeps ${input} and ${output}.`,
  },
  {
    cleanup: 'keep-output',
    label: 'The connection, but keep the destination',
    effect: (input, output) => `Deletes the pipeline, and ${input} with its credentials. Keeps ${output}.`,
  },
  {
    cleanup: 'full',
    label: 'Everything',
    effect: (input, output) =>
      `Deletes the pipeline, and ${input} and ${output} with their credentials. Keeps what other pipelines use.`,
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
    ...policies.map(({ cleanup, label, effect }, index) =>
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
        el('span', {}, el('b', {}, label), el('span', { id: `${id}-${cleanup}` }, effect(named, target))),
      ),
    ),
  );
  const remove = button('Delete', '', 'danger', () => void run());
  const cancel = button('Cancel', '', 'secondary', () => dialog.close());
  const dialog = el(
    'dialog',
    { class: 'delete-dialog', 'aria-labelledby': id },
    el('h2', { id }, outputName === undefined ? `Delete ${named}?` : `Delete the pipeline of ${named}?`),
    outputName === undefined ? el('p', {}, `Deletes ${named} with its credentials. It has no pipeline.`) : choices,
    problem,
    el('div', { class: 'delete-dialog-buttons' }, cancel, remove),
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
