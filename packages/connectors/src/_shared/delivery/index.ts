import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createDeliveryOutput } from './output.js';
import { createDeliveryTester } from './test-connection.js';

/** Returns the code that a type gets from its `delivery` definition. */
export function deliveryCode(type: ConnectorTypeData): ConnectorCode {
  const { delivery } = type;
  return delivery
    ? { testConnection: createDeliveryTester(type, delivery), createOutput: createDeliveryOutput(delivery) }
    : {};
}
