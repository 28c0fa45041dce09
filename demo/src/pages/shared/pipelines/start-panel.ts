import type { ConfiguredConnector } from '@connector-frame/core/connect';
import * as api from './api.js';
import { button, el, press } from './dom.js';

/** Offers to create a pipeline for an input that has none. */
export function startPanel(input: api.Input, inputName: string, isNew: boolean, built: () => void): HTMLElement {
  const problem = el('p', { class: 'pipeline-problem pipeline-action-error', role: 'alert', hidden: true });
  const nowhere = el('option', { value: '' }, 'Nowhere: count, then discard');
  const select = el('select', { class: 'small' }, nowhere);
  const start = button('Start a pipeline', `for ${inputName}`, isNew ? 'primary' : 'secondary', () => void run());

  async function run(): Promise<void> {
    const outputId = select.value === '' ? undefined : select.value;
    if (!(await press(start, problem, () => api.build(input, inputName, outputId)))) return;
    api.forgetOutputs();
    built();
  }

  Promise.all([api.outputs(input.tenantId), api.savedOnlyTypes().catch(() => new Set<string>())]).then(
    ([outputs, savedOnly]) =>
      select.append(
        ...outputs
          // Leave out other outputs of this type: they do the same as the first option.
          .filter(({ type_id }) => type_id !== 'dev-null')
          .map((output) => option(output, savedOnly.has(output.type_id))),
      ),
    () => {}, // If a list fails to load, the first option still works.
  );
  return el(
    'div',
    { class: 'pipeline-start' },
    el(
      'label',
      {},
      el('span', {}, 'Send what comes to', el('span', { class: 'hidden' }, ` (pipeline of ${inputName})`)),
      select,
    ),
    start,
    problem,
  );
}

/** @param isSavedOnly whether the service can't deliver to this output */
function option({ id, name, type_id }: ConfiguredConnector, isSavedOnly: boolean): HTMLOptionElement {
  const text = name === '' ? type_id : `${name} · ${type_id}`;
  return el('option', { value: id, disabled: isSavedOnly }, isSavedOnly ? `${text} (saved only)` : text);
}
