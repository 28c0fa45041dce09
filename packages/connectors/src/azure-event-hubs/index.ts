import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { createGroupInput } from '../kafka/input.js';
import { createKafkaTester } from '../kafka/test-connection.js';
import { readRecordFields } from '../kafka/to-record.js';
import { readSettings, readTarget } from './target.js';

const NAMESPACE = '/settings/event_hub_namespace';

export const azureEventHubsInput: ConnectorCode = {
  testConnection: createKafkaTester(
    readTarget,
    {
      user: '/secrets/client_id',
      topics: '/settings/event_hub_name',
      group: '/settings/consumer_group',
      security: NAMESPACE,
    },
    async (admin, config) => {
      const { names, groupId } = readSettings(config);
      for (const name of names) await admin.fetchTopicOffsets(name);
      await admin.fetchOffsets({ groupId, topics: names });
      return passed('Signed in, and found the event hub');
    },
    { product: 'Azure Event Hubs', address: NAMESPACE },
  ),
  createInput: (config, { egress, clock }) =>
    createGroupInput(
      {
        target: readTarget(config, egress, clock),
        settings: readSettings(config),
        names: { ...readRecordFields({}), location: text(config.settings, 'record_location') },
      },
      { egress, clock },
    ),
};
