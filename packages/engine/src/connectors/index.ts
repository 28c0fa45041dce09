import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Input } from '../runner/ends.js';
import type { ConnectorCode, ConnectorContext } from './connector-code.js';
import { pollCode } from './poll/index.js';
import { registry } from './registry.js';
import { createSyntheticInputOf } from './synthetic/input.js';
import { wantsSynthetic } from './synthetic/wants-synthetic.js';

export type * from './connection-test/tester.js';
export type * from './connector-code.js';
export { BodyError, type Receiver, type ReceiverAnswer } from './receiver.js';
export { wantsSynthetic };

/** What there is in code for a type: its connection test, and what runs it. Made-up records are no runtime. */
export type Connectors = (type: ConnectorTypeData) => ConnectorCode;

/** Code of a type's own comes before what its `poll` gives it. */
export const connectors: Connectors = (type) => ({
  ...pollCode(type),
  ...registry.get(`${type.kind}:${type.type_id}`),
});

/**
 * The input a configuration asks for: made-up records where its synthetic switch is on, for every type that has one, else
 * what the type's code makes of it. `undefined`: the type has no runtime.
 * @throws EndError `invalid_config`, permanent
 */
export function createInputOf(
  type: ConnectorTypeData,
  config: ConnectorConfig,
  context: ConnectorContext,
): Input | undefined {
  if (wantsSynthetic(type, config)) return createSyntheticInputOf(type, context);
  return connectors(type).createInput?.(config, context);
}
