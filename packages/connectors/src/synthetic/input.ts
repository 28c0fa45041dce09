import { createSyntheticInput } from './synthetic-input.js';
import type { Clock, PageInput } from '@connector-frame/engine/connector-api';
import { shapeOf, type ShapedType } from './shape-of.js';
import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';

/** Records per second, if the configuration has no field for it. */
const RATE = 5;

/** Generates records that look like those of a type, at a fixed rate. Makes no connections. */
export function createSyntheticInputOf(
  type: ShapedType,
  { rate = RATE, clock }: { rate?: number; clock: Clock },
): PageInput {
  return createSyntheticInput({ rate, clock, shape: shapeOf(type) });
}

/**
 * Returns whether a configuration enables synthetic records: the switch that its type marks with
 * `x-role: synthetic-toggle` is on.
 */
export function isSyntheticEnabled(
  { kind, config: schema }: Pick<ConnectorTypeData, 'kind' | 'config'>,
  { settings }: ConnectorConfig,
): boolean {
  if (kind !== 'input') return false;
  return Object.entries(schema.settings.properties).some(
    ([name, field]) => field['x-role'] === 'synthetic-toggle' && settings[name] === true,
  );
}
