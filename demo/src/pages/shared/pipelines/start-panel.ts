import type { ConfiguredConnector } from '@connector-frame/core/connect';
import * as api from './api.js';
import { button, el, write } from './dom.js';

/** Offers a pipeline for an input that has none. */
export function startPanel(input: api.Input, inputName: string, isNew: boolean, built: () => void): HTMLElement {
  const problem = el('p', { class: 'pipeline-problem', role: 'alert', hidden: true });
  const nowhere = el('option', { value: '' }, 'Nowhere: drop everything');
  const select = el('select', { class: 'small' }, nowhere);
  const start = button('Start a pipeline', `for ${inputName}`, isNew ? 'primary' : 'secondary', () => void run());

  async function run(): Promise<void> {
    start.disabled = true;
    start.setAttribute('aria-busy', 'true');
    problem.hidden = true;
    try {
      await api.build(input, inputName, select.value === '' ? undefined : select.value);
      api.forgetOutputs();
      built();
    } catch (error) {
      write(problem, error instanceof Error ? error.message : String(error));
      problem.hidden = false;
    } finally {
      start.disabled = false;
      start.removeAttribute('aria-busy');
    }
  }

  api.outputs(input.tenantId).then(
    (outputs) => select.append(...outputs.map(option)),
    () => {}, // Without the list there is still the first choice.
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
