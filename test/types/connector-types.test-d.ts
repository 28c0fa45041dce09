/**
 * A project that registers the catalog's types with the compiler, as the guides show: IDs and fields
 * are checked where they are written.
 */
// oxlint-disable-next-line unicorn/require-module-specifiers, import/no-empty-named-blocks -- as in the guides
import type {} from '@connector-frame/catalog/register';
import { createConnectorFrame, type CatalogType, type ConnectorTypeId } from '@connector-frame/core/connect';
import type { InputTypes } from '@connector-frame/catalog/connector-types';
import { createHost } from '@connector-frame/host';
import { ConnectorFrame } from '@connector-frame/react';
import { createElement } from 'react';

const rest = { container: '#form', kind: 'input', sessionToken: 'token', organizationId: 'org' } as const;

createConnectorFrame({
  ...rest,
  typeId: 'okta-systemlog',
  configMetaOverrides: { settings: { org_url: { name: 'Your Okta address' } }, secrets: { api_key: { name: 'Key' } } },
});
// @ts-expect-error -- there is no such type
createConnectorFrame({ ...rest, typeId: 'okta-sistemlog' });
createConnectorFrame({
  ...rest,
  typeId: 'okta-systemlog',
  // @ts-expect-error -- Okta has no such field
  configMetaOverrides: { settings: { host: { name: 'Host' } } },
});

const picked: CatalogType = { type_id: 'splunk', name: '', description: '', category: '', icon: null };
createConnectorFrame({ ...rest, typeId: picked.type_id });

const output: ConnectorTypeId<'output'> = 'splunk';
// @ts-expect-error -- Splunk is no input
const input: ConnectorTypeId<'input'> = 'splunk';

createHost({
  serviceUrl: 'https://connect.example.com',
  apiKey: 'key',
  authorizeTenant: () => null,
  allow: { input: ['okta-systemlog', 'monad-http'], output: [output] },
});
createHost({
  serviceUrl: 'https://connect.example.com',
  apiKey: 'key',
  authorizeTenant: () => null,
  // @ts-expect-error -- an output among the inputs
  allow: { input: ['splunk'] },
});

createElement(ConnectorFrame, { kind: 'input', typeId: 'okta-systemlog', hostUrl: '/api', tenantId: 'acme' });
// @ts-expect-error -- there is no such type
createElement(ConnectorFrame, { kind: 'input', typeId: 'nothing', hostUrl: '/api', tenantId: 'acme' });

const settings: InputTypes['okta-systemlog']['settings'] = { org_url: 'https://acme.okta.com' };
// @ts-expect-error -- the address is required
const empty: InputTypes['okta-systemlog']['settings'] = {};
export { empty, input, settings };
