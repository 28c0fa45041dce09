import * as api from './api.js';
import { copyButton } from './copy.js';
import { button, el, write } from './dom.js';
import { exampleFor } from './ingest-example.js';

const veil = '••••••••••••';

/**
 * Creates the panel of an input that receives pushed events: address, token on demand, and a
 * command that sends an event. Resolves to `null` for other inputs.
 */
export async function ingestPanel(input: api.Input, typeId: string, inputName: string): Promise<HTMLElement | null> {
  const { ingest: address } = await api.ingest(input);
  if (!address) return null;
  const url = address.url;
  const example = exampleFor(typeId, address);
  const code = el('code');
  const shownToken = el('code', {}, veil);
  let token = '';

  const show = (value: string) => {
    token = value;
    write(shownToken, value === '' ? veil : value);
    write(code, example(value === '' ? veil : value));
    write(reveal.firstElementChild ?? reveal, value === '' ? 'Show' : 'Hide');
  };
  const fetchToken = async (): Promise<string> =>
    token !== '' || !address.hasToken ? token : (await api.token(input)).token;
  const reveal = button('Show', 'token', 'secondary', () => {
    if (token !== '') show('');
    else fetchToken().then(show, () => write(shownToken, 'The token could not be loaded.'));
  });
  show('');

  const title = el('h3', {}, 'Send events here');
  return el(
    'section',
    { class: 'pipeline-ingest', 'aria-label': `Send events to ${inputName}` },
    title,
    row(
      'Address',
      el('code', {}, url),
      copyButton('address', () => url),
    ),
    address.hasToken && row('Token', shownToken, reveal, copyButton('token', fetchToken, show)),
    el(
      'div',
      { class: 'pipeline-command' },
      el('pre', { tabindex: '0', role: 'region', 'aria-label': 'Command that sends an event' }, code),
      copyButton(
        'command',
        async () => example(await fetchToken()),
        () => void fetchToken().then(show),
      ),
    ),
  );
}

const row = (label: string, ...what: readonly HTMLElement[]) =>
  el('div', { class: 'pipeline-field' }, el('span', { class: 'pipeline-label' }, label), ...what);
