import type { ConnectorConfig, ConnectorTypeData, DeliveryDefinition } from '@connector-frame/catalog/types';
import type { ConnectorCode, TesterConfig } from '@connector-frame/engine/connector-api';
import { createDeliveryOutput } from '../_shared/delivery/output.js';
import { createDeliveryTester } from '../_shared/delivery/test-connection.js';
import { failed } from '../_shared/connection-test/outcome.js';
import { invalidConfig } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';

const PATH = '/dataCollectionRules/{{/settings/rule_id}}/streams/{{/settings/stream_name}}';
const QUERY = { 'api-version': '2023-01-01' };
const MANAGED =
  'Looking up a data collection rule by its resource ID is not supported. Enter the immutable ID of the rule.';

/**
 * Logs ingestion API. It is not in the data file, because the tenant, a part of the token URL, is a
 * secret of this type.
 */
const definition: DeliveryDefinition = {
  verified: 'documented',
  documentation: ['https://learn.microsoft.com/en-us/azure/azure-monitor/logs/logs-ingestion-api-overview'],
  base_url: '{{/settings/endpoint}}',
  authentication: {
    kind: 'client_credentials',
    token_url: 'https://login.microsoftonline.com/{{/settings/tenant_id}}/oauth2/v2.0/token',
    client_id: '/secrets/client_id',
    client_secret: '/secrets/client_secret',
    client: 'body',
    parameters: { scope: 'https://monitor.azure.com/.default' },
  },
  path: PATH,
  query: QUERY,
  body: { kind: 'json', template: '{{records}}', record: { '{{...}}': '{{record}}', TimeGenerated: '{{now}}' } },
  limits: { records: 2_000, bytes: 1_000_000 },
  compression: 'gzip',
  check: {
    kind: 'request',
    path: PATH,
    query: QUERY,
    body: [],
    accepted: { status: [204, 400] },
    summary: 'Azure accepted the application and the data collection rule',
  },
};

const isManaged = ({ settings }: TesterConfig): boolean => text(settings, 'dcr_config', 'type') === 'managed';

function flatten({ settings, secrets }: TesterConfig): ConnectorConfig {
  const { tenant_id: tenant, ...rest } = secrets;
  const rule = text(settings, 'dcr_config', 'manual', 'rule_id');
  return { settings: { ...settings, tenant_id: tenant, rule_id: rule }, secrets: rest };
}

/** The tester gets no type, and needs only its name and defaults. */
const type: Pick<ConnectorTypeData, 'name' | 'config'> = {
  name: 'Microsoft Sentinel',
  config: {
    settings: { type: 'object', properties: {}, additionalProperties: false },
    secrets: { type: 'object', properties: {}, additionalProperties: false },
  },
};

export const sentinelOutput: ConnectorCode = {
  createOutput: (config, context) => {
    if (isManaged(config)) throw invalidConfig(MANAGED);
    return createDeliveryOutput(definition)(flatten(config), context);
  },
  testConnection: async (config, context) =>
    isManaged(config)
      ? failed('unsupported', MANAGED, { at: '/settings/dcr_config/managed/dcr_resource_id' })
      : createDeliveryTester(type, definition)(flatten(config), context),
};
