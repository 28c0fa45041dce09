import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import type { ConnectorCode, ConnectorContext, Input } from '@connector-frame/engine/connector-api';
import { deliveryCode } from './_shared/delivery/index.js';
import { awsObjectsCode } from './aws-objects/index.js';
import { pollCode } from './_shared/poll/index.js';
import { receiveCode } from './_shared/receive/index.js';
import { registry } from './registry.js';
import { createSyntheticInputOf } from './synthetic/input.js';
import { isSyntheticEnabled } from './synthetic/input.js';

export {
  createAwsIdentity,
  type AwsAccount,
  type AwsIdentity,
  type AwsIdentityOptions,
} from './_shared/aws/identity.js';
export { needsAwsIdentity } from './needs-aws-identity.js';
export { createDevNullOutput } from './dev-null/output.js';
export { DEFAULT_RECORDS as HTTP_BATCH_RECORDS, WAIT_MS as HTTP_BATCH_MS } from './http/output.js';
export { createFileOutput, type FileOutputOptions } from './file/file-output.js';
export { createSyntheticInput, type SyntheticInputOptions } from './synthetic/synthetic-input.js';
export { exampleRecord, RECORD_TYPES } from './synthetic/shape-of.js';
export { scheduleOf, type Schedule } from './schedule-of.js';
export { isSyntheticEnabled };

/**
 * Returns the code of a type: its connection test and its runtime. Synthetic records do not count
 * as a runtime.
 */
export type Connectors = (type: ConnectorTypeData) => ConnectorCode;

/**
 * Looks up the code of a connector type. Code from the registry takes precedence over what the
 * type's `poll`, `delivery` or `receive` definition provides.
 *
 * @example
 * const { testConnection } = connectors(type);
 * const outcome = await testConnection?.(config, { egress, signal });
 */
export const connectors: Connectors = (type) => ({
  ...pollCode(type),
  ...awsObjectsCode(type),
  ...deliveryCode(type),
  ...receiveCode(type),
  ...registry.get(`${type.kind}:${type.type_id}`),
});

/**
 * Creates the input for a configuration: a generator of synthetic records if the type has a
 * synthetic switch and it is on, otherwise the type's own input.
 *
 * @returns `undefined` if the type has no runtime
 * @throws ConnectorError `invalid_config`, permanent
 * @example
 * const input = createInputOf(type, config, { type, egress, clock });
 */
export function createInputOf(
  type: ConnectorTypeData,
  config: ConnectorConfig,
  context: ConnectorContext,
): Input | undefined {
  if (isSyntheticEnabled(type, config)) return createSyntheticInputOf(type, context);
  return connectors(type).createInput?.(config, context);
}
