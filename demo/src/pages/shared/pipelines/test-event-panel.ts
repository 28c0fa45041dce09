import * as api from './api.js';
import { announce, button, el, write } from './dom.js';
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
    send.disabled = true;
    delete result.dataset['tone'];
    write(result, 'Sending …');
    const before = received();
    try {
      await api.testEvent(input);
      const end = Date.now() + patience;
      while (received() <= before && Date.now() < end && result.isConnected) {
        refresh();
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      const grown = received() > before;
      result.dataset['tone'] = grown ? 'good' : 'off';
      const now = counted(received(), 'record');
      write(result, grown ? `It arrived: ${now} now.` : `It was taken in, and is not counted yet: ${now} so far.`);
    } catch (error) {
      result.dataset['tone'] = 'bad';
      write(result, error instanceof Error ? error.message : String(error));
    } finally {
      send.disabled = false;
    }
    announce(result.textContent ?? '');
  }
  return el('div', { class: 'pipeline-test' }, send, result);
}
