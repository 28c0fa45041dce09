import type { CatalogType, ComponentKind, ConfiguredConnector } from '@connector-frame/core/connect';
import { byId, fromTemplate, make } from '../shared/dom.js';
import { showMark } from '../shared/vendor-mark.js';
import { placeHref } from './place.js';
import { blank, skeleton } from './section.js';

const empty: Record<ComponentKind, string> = {
  input: 'No data sources yet. Pick a product below, and its events start to flow here.',
  output: 'No destinations yet. Pick a product below to send what Northwind finds there.',
};

/** The list of what this tenant has connected. */
export function createConnectionsSection() {
  const box = byId('connections');
  const count = byId('connections-count');

  return {
    loading(): void {
      count.textContent = '';
      box.replaceChildren(skeleton(1, 'products'));
    },
    show(kind: ComponentKind, connectors: ConfiguredConnector[], types: CatalogType[], justSaved?: string): void {
      count.textContent = connectors.length > 0 ? `${connectors.length}` : '';
      if (connectors.length === 0) {
        box.replaceChildren(blank(empty[kind]));
        return;
      }
      const byType = new Map(types.map((type) => [type.type_id, type]));
      const rows = connectors.map((one) => row(kind, one, byType.get(one.type_id), one.id === justSaved));
      box.replaceChildren(make('ul', { className: 'connections' }, ...rows));
    },
    fail(message: string, retry: () => void): void {
      count.textContent = '';
      box.replaceChildren(blank(message, { label: 'Try again', run: retry }));
    },
  };
}

function row(kind: ComponentKind, connector: ConfiguredConnector, type: CatalogType | undefined, isNew: boolean) {
  const { root, slot } = fromTemplate('connection');
  const typeName = type?.name ?? connector.type_id;
  showMark(slot('mark'), type?.icon, typeName);
  const name = slot('name');
  name.textContent = connector.name || typeName;
  name.setAttribute('href', placeHref({ kind, typeId: connector.type_id, connectorId: connector.id }));
  slot('about').textContent = `${typeName} · ${connector.id.slice(0, 8)}`;
  const state = slot('state');
  state.textContent = isNew ? 'Saved just now' : 'Saved';
  if (isNew) state.dataset['state'] = 'new';
  return root;
}
