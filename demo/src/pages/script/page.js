import { log } from '../shared/event-log.ts';

const connector = document.querySelector(
  'connector-frame',
);

connector?.addEventListener('ready', () => log('ready'));

connector?.addEventListener('save', (event) => {
  log('save', event.connector);
  const how = connector.existingId ? 'updated' : 'saved';
  location.assign(
    `?kind=${connector.kind}&${how}=${event.connector.id}`,
  );
});

connector?.addEventListener('cancel', () => {
  log('cancel');
  location.assign(`?kind=${connector.kind}`);
});

connector?.addEventListener('error', ({ error }) => {
  log('error', `${error.code}: ${error.message}`);
});
