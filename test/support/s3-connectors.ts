import { loadCatalog, type ConnectorConfig, type ConnectorTypeData } from '@connector-frame/catalog';
import { connectors } from '../../packages/connectors/src/index.js';
import type { ConnectorContext, Output, PageInput } from '../../packages/engine/src/connector-api/index.js';
import { createEgress } from '../../packages/engine/src/egress/index.js';
import { systemClock, type Clock } from '../../packages/engine/src/connector-api/clock.js';

const catalog = loadCatalog();
const defaults = { bucket: 'logs', region: 'us-east-1', use_path_style: true };

function parts(kind: 'input' | 'output', clock: Clock, allow: string[]): ConnectorContext {
  const type: ConnectorTypeData | undefined = catalog.get(kind, 'object-storage');
  if (!type) throw new Error('The catalog has no object storage.');
  return { type, clock, egress: createEgress({ allow, timeoutMs: 5_000 }) };
}

/** Creates an `object-storage` input through the registry; loopback addresses are allowed. */
export function openInput(
  settings: Record<string, unknown>,
  secrets: Record<string, unknown>,
  clock: Clock = systemClock,
  allow = ['127.0.0.0/8'],
): PageInput {
  const context = parts('input', clock, allow);
  const config: ConnectorConfig = { settings: { ...defaults, ...settings }, secrets };
  const input = connectors(context.type).createInput?.(config, context);
  if (input?.kind !== 'pages') throw new Error('There is no such input.');
  return input;
}

/** Creates an `object-storage` output, as `openInput` does. */
export function openOutput(
  settings: Record<string, unknown>,
  secrets: Record<string, unknown>,
  clock: Clock = systemClock,
  allow = ['127.0.0.0/8'],
): Output {
  const context = parts('output', clock, allow);
  const config: ConnectorConfig = { settings: { ...defaults, ...settings }, secrets };
  const output = connectors(context.type).createOutput?.(config, context);
  if (!output) throw new Error('There is no such output.');
  return output;
}
