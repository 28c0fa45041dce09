import * as api from './api.js';
import { announce, button, el, press, write } from './dom.js';
import { counted } from './numbers.js';

/** Milliseconds in which a test event should be counted. */
const patience = 10_000;

/**
 * Sends one event, and shows that it was counted.
 * @param received records taken in so far; asked for again by `refresh`
 */
export function testEventPanel(
  input: api.Input,
  inputName: string,
  received: () => number,
  refresh: () => void,
): HTMLElement {
  const result = el('span', { class: 'pipeline-result' });
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
    for (const end = Date.now() + patience; received() <= before && Date.now() < end && result.isConnected;) {
      refresh();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    const now = counted(received(), 'record');
    const grown = received() > before;
    result.dataset['tone'] = grown ? 'good' : 'off';
    write(result, grown ? `It arrived: ${now} now.` : `It was taken in, and is not counted yet: ${now} so far.`);
  }
  return el('div', { class: 'pipeline-test' }, send, result);
}
