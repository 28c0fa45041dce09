import { systemClock, type ConnectorCode } from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { createPubSubInput } from './input.js';
import { Subscription } from './subscription.js';

export const googleCloudPubSubInput: ConnectorCode = {
  createInput: createPubSubInput,
  // Pulling a message would keep it from other subscribers.
  testConnection: createApiTester({ product: 'Google Cloud Pub/Sub' }, async (config, { egress, signal }) => {
    if (await new Subscription(config, egress, systemClock).isReadable(signal))
      return passed('The service account may read the subscription');
    return failed('forbidden', 'The service account may not read the subscription.', {
      hint: 'It needs the role Pub/Sub Subscriber.',
      at: ['/secrets/credentials', '/settings/subject_id'],
    });
  }),
};
