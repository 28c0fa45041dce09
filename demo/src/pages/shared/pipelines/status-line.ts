import { el, icon, write } from './dom.js';
import { count, counted, createRateMeter, rate } from './numbers.js';
import type { PipelineSnapshot } from './shapes.js';
import { sparkline } from './sparkline.js';
import { states, suspended } from './states.js';

/** Creates the status line: status, rate, ten-minute sparkline and counts. */
export function statusLine(): {
  parts: HTMLElement[];
  update: (snapshot: PipelineSnapshot) => void;
  fail: (message: string) => void;
} {
  const word = el('b');
  const drawing = el('span');
  const state = el('p', { class: 'pipeline-state' }, drawing, word);
  const figure = el('b');
  const curve = sparkline();
  const throughput = el('p', { class: 'pipeline-rate' }, el('span', {}, figure, ' a second'), curve.root);
  const moved = el('span');
  const failed = el('span');
  const counts = el('p', { class: 'pipeline-counts' }, moved, ' · ', failed);
  const problem = el('p', { class: 'pipeline-problem', hidden: true });
  const measure = createRateMeter();

  return {
    parts: [state, throughput, counts, problem],
    update(snapshot) {
      const known = snapshot.suspension === null ? (states[snapshot.status] ?? states.Unknown) : suspended;
      if (state.dataset['tone'] === undefined || word.textContent !== known.word) {
        state.dataset['tone'] = known.tone;
        word.textContent = known.word;
        drawing.replaceChildren(icon(known.icon));
      }
      state.classList.remove('is-stale');
      // The rate needs two readings; until then, use the last completed interval.
      const now = measure(snapshot.received, Date.now()) ?? snapshot.history.at(-1) ?? 0;
      write(figure, rate(now));
      curve.update([...snapshot.history, now]);
      const { received, delivered, errors, waiting, dropped, lost } = snapshot;
      const summary = [
        `${count(received)} in`,
        `${count(delivered)} out`,
        ...(waiting > 0 ? [`${count(waiting)} waiting`] : []),
        ...(dropped > 0 ? [`${count(dropped)} dropped`] : []),
        ...(lost > 0 ? [`${count(lost)} lost`] : []),
      ];
      write(moved, summary.join(' · '));
      // Not all errors of a pipeline: one that is `Erroring` may not have rejected a record yet.
      write(failed, `${counted(errors, 'record')} rejected`);
      failed.classList.toggle('has-errors', errors > 0);
      const hint = snapshot.suspension ?? known.hint;
      const message = known.tone === 'bad' ? (snapshot.problem ?? hint) : hint;
      problem.dataset['tone'] = known.tone;
      problem.hidden = message === undefined;
      write(problem, message ?? '');
    },
    fail(message) {
      // Keep the last known status and mark it as stale.
      state.classList.add('is-stale');
      problem.dataset['tone'] = 'off';
      problem.hidden = false;
      write(problem, `${message} Retrying …`);
    },
  };
}
