import * as api from './api.js';
import { button, el, write } from './dom.js';
import { ingestPanel } from './ingest-panel.js';
import { logPanel } from './log-panel.js';
import type { PipelineSnapshot } from './shapes.js';
import { testEventPanel } from './test-event-panel.js';

interface About {
  inputName: string;
  typeId: string;
  /** Requests a new snapshot. */
  refresh: () => void;
}

let made = 0;

/**
 * Creates the panel that expands below a row: output, ingest address, test event and log. Loads its
 * content when it is opened.
 */
export function createDetails(input: api.Input, { inputName, typeId, refresh }: About) {
  const id = `pipeline-details-${(made += 1)}`;
  const root = el('div', { class: 'pipeline-details', id, hidden: true });
  const opener = button('Details', `of ${inputName}`, 'secondary', toggle);
  opener.setAttribute('aria-expanded', 'false');
  opener.setAttribute('aria-controls', id);
  const leads = el('dd');
  const last = el('dd');
  let snapshot: PipelineSnapshot | undefined;
  let log: ReturnType<typeof logPanel> | undefined;

  function toggle(): void {
    if (log) stop();
    else open();
    opener.setAttribute('aria-expanded', String(log !== undefined));
    root.hidden = log === undefined;
  }

  function open(): void {
    const ingest = el('div', { 'aria-busy': 'true' });
    log = logPanel(input, inputName);
    root.replaceChildren(
      el('dl', {}, el('div', {}, el('dt', {}, 'Leads to'), leads), el('div', {}, el('dt', {}, 'Last record'), last)),
      ingest,
      log.root,
    );
    ingestPanel(input, typeId, inputName).then(
      (panel) => {
        if (!panel) return ingest.remove();
        if (typeId === 'monad-http') {
          panel.append(testEventPanel(input, inputName, () => snapshot, refresh));
        }
        return ingest.replaceWith(panel);
      },
      (error: Error) => ingest.replaceWith(el('p', { class: 'pipeline-problem', 'data-tone': 'bad' }, error.message)),
    );
    if (snapshot) update(snapshot);
    void nameOutput();
  }

  async function nameOutput(): Promise<void> {
    const outputs = await api.outputs(input.tenantId).catch(() => []);
    const output = outputs.find((one) => one.id === snapshot?.outputId);
    write(leads, output ? `${output.name} · ${output.type_id}` : (snapshot?.outputId ?? 'nowhere'));
  }

  function update(next: PipelineSnapshot): void {
    snapshot = next;
    const { lastRecordAt } = next;
    write(last, lastRecordAt === null ? 'none yet' : new Date(lastRecordAt).toLocaleTimeString([], { hour12: false }));
  }

  function stop(): void {
    log?.stop();
    log = undefined;
    root.replaceChildren();
  }
  return { root, opener, update, stop };
}
