// A product that uses every public package. The release compiles it against the packed packages.
import { createServer } from 'node:http';
import { createElement, createRef } from 'react';
import { createApp, h } from 'vue';
import { loadCatalog, type ConnectorTypeData } from '@connector-frame/catalog';
import { createConnectorFrame, type ConnectorFrame as Frame } from '@connector-frame/core/connect';
import '@connector-frame/element/define';
import { createHost, type Host } from '@connector-frame/host';
import { toNodeHandler } from '@connector-frame/host/node';
import { ConnectorFrame, type ConnectorFrameElement, type SavedConnector } from '@connector-frame/react';
import { ConnectorFrame as VueConnectorFrame, createConnectorFrames } from '@connector-frame/vue';

const options = { kind: 'input', typeId: 'okta-systemlog', hostUrl: '/api', tenantId: 'acme' } as const;
const keep = (connector: SavedConnector): string => connector.id.toUpperCase();

export const frame: Frame = createConnectorFrame({
  container: '#connect',
  kind: 'input',
  typeId: 'okta-systemlog',
  frameOrigin: 'https://connect.example.com/embed',
  apiBase: 'https://connect.example.com',
  fetchSession: () => Promise.resolve({ sessionToken: 'token', organizationId: 'organization' }),
  onSave: keep,
});

export const element: ConnectorFrameElement = document.createElement('connector-frame');
element.addEventListener('save', (event) => keep(event.connector));

const ref = createRef<ConnectorFrameElement>();
export const reactPage = <ConnectorFrame ref={ref} {...options} onSave={keep} />;
// @ts-expect-error -- `kind` is 'input' or 'output'
export const misspelled = createElement(ConnectorFrame, { ...options, kind: 'inptu' });

createApp({ render: () => h(VueConnectorFrame, { ...options, onSave: keep }) }).use(createConnectorFrames());
// @ts-expect-error -- `kind` is 'input' or 'output'
h(VueConnectorFrame, { ...options, kind: 'inptu' });

const host: Host = createHost({
  serviceUrl: 'https://connect.example.com',
  apiKey: 'key',
  authorizeTenant: (_request, tenantId) => tenantId,
});
createServer(toNodeHandler(host));

export const type: ConnectorTypeData | undefined = loadCatalog().get('input', 'okta-systemlog');
