import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Input } from '../runner/ends.js';
import type { ConnectorCode, ConnectorContext } from './connector-code.js';
import { registry } from './registry.js';
import { createSyntheticInputOf } from './synthetic/input.js';
import { wantsSynthetic } from './synthetic/wants-synthetic.js';

export type * from './connection-test/tester.js';
export type * from './connector-code.js';
export { BodyError, type Receiver, type ReceiverAnswer } from './receiver.js';
export { wantsSynthetic };

/** What there is in code for a type: its connection test, and what runs it. Made-up records are no runtime. */
export type Connectors = (type: ConnectorTypeData) => ConnectorCode;

export const connectors: Connectors = ({ kind, type_id: typeId }) => registry.get(`${kind}:${typeId}`) ?? {};

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
