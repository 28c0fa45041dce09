import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import { effectiveConfig, pruneConfig } from '@connector-frame/catalog/validate';

/**
 * The configuration as a connection test or a runtime reads it: absent settings have their defaults, and nothing is there
 * that is not shown. Secrets are bound to these very settings, so whether a default is stored makes no difference.
 *
 * @param secrets in clear
 */
export const runtimeConfig = (
  { config: schema }: ConnectorTypeData,
  settings: Readonly<Record<string, unknown>>,
  secrets: ConnectorConfig['secrets'],
): ConnectorConfig => pruneConfig(schema, { settings: effectiveConfig(schema, settings).settings, secrets });
