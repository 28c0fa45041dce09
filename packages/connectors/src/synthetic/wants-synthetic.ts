import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';

/**
 * Returns whether a configuration enables synthetic records: the switch that its type marks with
 * `x-role: synthetic-toggle` is on.
 */
export function wantsSynthetic(
  { kind, config: schema }: Pick<ConnectorTypeData, 'kind' | 'config'>,
  { settings }: ConnectorConfig,
): boolean {
  if (kind !== 'input') return false;
  return Object.entries(schema.settings.properties).some(
    ([name, field]) => field['x-role'] === 'synthetic-toggle' && settings[name] === true,
  );
}
