import type { CatalogType, ComponentKind } from '@connector-frame/core/connect';
import { byId, make } from '../shared/dom.js';
import * as backend from '../shared/host-api.js';
import { messageOf } from '../shared/message-of.js';
import { bindTheme } from '../shared/theme.js';
import { createCatalogSection } from './catalog-section.js';
import { createConnectionsSection } from './connections-section.js';
import { createConnectorPanel } from './connector-panel.js';
import { createEventLog } from './event-log.js';
import { followPlaces, placeHref, readPlace, type Place } from './place.js';
import { showView } from './view.js';

const words: Record<ComponentKind, { title: string; lead: string; one: string }> = {
  input: {
    title: 'Data sources',
    lead: 'Bring security events into Northwind. Credentials are typed into a form of another origin: this page can’t see them.',
    one: 'data source',
  },
  output: {
    title: 'Destinations',
    lead: 'Send what Northwind finds where your team works. Credentials are typed into a form of another origin: this page can’t see them.',
    one: 'destination',
  },
};

const log = createEventLog(byId('events'));
const catalogSection = createCatalogSection();
const connectionsSection = createConnectionsSection();
const saved = byId('saved');
const tenants = byId('tenant', HTMLSelectElement);
let tenantId = '';
let place = readPlace(location.search);
let lastLoad = 0;

const go = followPlaces((next) => {
  saved.hidden = true;
  show(next);
});

const panel = createConnectorPanel({
  log,
  onSaved(connector) {
    const verb = place.connectorId ? 'updated' : 'connected';
    go({ kind: place.kind });
    saved.replaceChildren(
      make(
        'p',
        {},
        make('b', {}, connector.name ?? 'The connection'),
        ` is ${verb}. Its id: `,
        make('code', {}, connector.id),
      ),
    );
    saved.hidden = false;
    void loadLists(connector.id);
  },
  onCanceled: () => go({ kind: place.kind }),
});

/** Shows a place, and puts the focus on its heading. */
function show(next: Place): void {
  if (next.kind !== place.kind) {
    catalogSection.loading();
    connectionsSection.loading();
  }
  place = next;
  const { title, lead, one } = words[place.kind];
  for (const link of document.querySelectorAll<HTMLElement>('[data-kind]')) {
    if (link.dataset['kind'] === place.kind) link.setAttribute('aria-current', place.typeId ? 'true' : 'page');
    else link.removeAttribute('aria-current');
  }
  byId('list-title').textContent = title;
  byId('list-lead').textContent = lead;
  byId('back-label').textContent = title;
  byId('back').setAttribute('href', placeHref({ kind: place.kind }));
  byId('connector-title').textContent = place.connectorId ? `Edit ${one}` : `New ${one}`;
  if (place.typeId) {
    showView('connector');
    void panel.open(tenantId, place);
  } else {
    panel.close();
    showView('list');
    void loadLists();
  }
}

/** Fills both lists; what was shown stays until the new is there. */
async function loadLists(justSaved?: string): Promise<void> {
  const { kind } = place;
  lastLoad += 1;
  const load = lastLoad;
  const retry = () => {
    catalogSection.loading();
    connectionsSection.loading();
    void loadLists(justSaved);
  };
  const [types, connectors] = await Promise.allSettled([backend.catalog(kind), backend.connectors(kind, tenantId)]);
  if (load !== lastLoad) return;
  if (connectors.status === 'rejected' && isSignedOut(connectors.reason)) {
    start();
    return;
  }
  const known: CatalogType[] = types.status === 'fulfilled' ? types.value : [];
  if (types.status === 'fulfilled') catalogSection.show(kind, known);
  else catalogSection.fail(messageOf(types.reason), retry);
  if (connectors.status === 'fulfilled') connectionsSection.show(kind, connectors.value, known, justSaved);
  else connectionsSection.fail(messageOf(connectors.reason), retry);
}

/** Shows what belongs to whoever is signed in, or the sign-in. */
function enter({ tenant, tenants: all }: backend.Me): void {
  panel.close();
  tenantId = tenant?.id ?? '';
  document.body.toggleAttribute('data-signed-in', tenant !== null);
  tenants.replaceChildren(...all.map(({ id, name }) => make('option', { value: id, selected: id === tenantId }, name)));
  if (tenant) {
    catalogSection.loading();
    connectionsSection.loading();
    show(readPlace(location.search));
    return;
  }
  const choices = all.map(({ id, name }) => {
    const button = make('button', { type: 'button', className: 'secondary' });
    button.append(make('span', { className: 'mark' }, name.slice(0, 1)), `Continue as ${name}`);
    button.addEventListener('click', () => void signIn(id));
    return make('li', {}, button);
  });
  byId('sign-in-choices').replaceChildren(...choices);
  byId('sign-in-failure').hidden = true;
  showView('sign-in');
}

/** Another workspace starts at its lists: what is open belongs to the one before. */
async function signIn(id: string): Promise<void> {
  try {
    const answer = await backend.signIn(id);
    saved.hidden = true;
    history.replaceState(null, '', placeHref({ kind: place.kind }));
    enter(answer);
  } catch (error) {
    tenants.value = tenantId;
    byId('sign-in-failure').textContent = messageOf(error);
    byId('sign-in-failure').hidden = false;
    if (tenantId) broken(error);
  }
}

function broken(error: unknown): void {
  byId('broken-reason').textContent = messageOf(error);
  showView('broken');
}

function start(): void {
  backend.me().then(enter, broken);
}

function isSignedOut(error: unknown): boolean {
  return error instanceof backend.BackendError && error.code === 'unauthenticated';
}

bindTheme(byId('theme'), () => panel.themeChanged());
tenants.addEventListener('change', () => void signIn(tenants.value));
byId('sign-out').addEventListener('click', () => void backend.signOut().then(enter, broken));
byId('broken-retry').addEventListener('click', start);
start();
