import * as api from './api.js';
import { announce, button, el, press, write } from './dom.js';
import { counted } from './numbers.js';
import type { PipelineSnapshot } from './shapes.js';

/** Milliseconds to wait until a test event is counted. */
const timeout = 10_000;
/**
 * Polling interval in milliseconds: short enough to appear immediate, long enough not to load the
 * service.
 */
const pollInterval = 300;

/**
 * Creates the panel that sends a test event and shows whether it was counted.
 * @param last returns the latest snapshot
 * @param refresh requests a new snapshot
 */
export function testEventPanel(
  input: api.Input,
  inputName: string,
  last: () => PipelineSnapshot | undefined,
  refresh: () => void,
): HTMLElement {
  const result = el('span', { class: 'pipeline-result' });
  const received = () => last()?.received ?? 0;
  const send = button('Send a test event', `to ${inputName}`, 'secondary', () => void run());

  async function run(): Promise<void> {
    write(result, 'Sending …');
    delete result.dataset['tone'];
    const before = received();
    if (!(await press(send, result, () => arrive(before)))) result.dataset['tone'] = 'bad';
    result.hidden = false;
    announce(result.textContent ?? '');
  }

  async function arrive(before: number): Promise<void> {
    await api.testEvent(input);
    let seen: PipelineSnapshot | undefined;
    for (const end = Date.now() + timeout; received() <= before && Date.now() < end && result.isConnected;) {
      // Request the next snapshot only after the previous one arrived: a new request discards the
      // response in flight.
      if (last() !== seen) refresh();
      seen = last();
      await new Promise((resolve) => setTimeout(resolve, pollInterval));
    }
    const now = counted(received(), 'record');
    const grown = received() > before;
    result.dataset['tone'] = grown ? 'good' : 'off';
    write(result, grown ? `Received: ${now} so far.` : `The event was accepted but is not counted yet: ${now} so far.`);
  }
  return el('div', { class: 'pipeline-test' }, send, result);
}
