import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';

/** Whether a configuration asks for made-up records: the switch its type marks `x-role: synthetic-toggle` is on. */
export function wantsSynthetic(
  { kind, config: schema }: Pick<ConnectorTypeData, 'kind' | 'config'>,
  { settings }: ConnectorConfig,
): boolean {
  if (kind !== 'input') return false;
  return Object.entries(schema.settings.properties).some(
    ([name, field]) => field['x-role'] === 'synthetic-toggle' && settings[name] === true,
  );
}
