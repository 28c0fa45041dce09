import type { ConfiguredConnector } from '@connector-frame/core/connect';
import * as api from './api.js';
import { button, el, press } from './dom.js';

/** Offers to create a pipeline for an input that has none. */
export function startPanel(input: api.Input, inputName: string, isNew: boolean, built: () => void): HTMLElement {
  const problem = el('p', { class: 'pipeline-problem pipeline-action-error', role: 'alert', hidden: true });
  const nowhere = el('option', { value: '' }, 'Nowhere: drop everything');
  const select = el('select', { class: 'small' }, nowhere);
  const start = button('Start a pipeline', `for ${inputName}`, isNew ? 'primary' : 'secondary', () => void run());

  async function run(): Promise<void> {
    const outputId = select.value === '' ? undefined : select.value;
    if (!(await press(start, problem, () => api.build(input, inputName, outputId)))) return;
    api.forgetOutputs();
    built();
  }

  api.outputs(input.tenantId).then(
    // Leave out other outputs of this type: they do the same as the first option.
    (outputs) => select.append(...outputs.filter(({ type_id }) => type_id !== 'dev-null').map(option)),
    () => {}, // If the list fails to load, the first option still works.
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

const option = ({ id, name, type_id }: ConfiguredConnector) =>
  el('option', { value: id }, name === '' ? type_id : `${name} · ${type_id}`);
