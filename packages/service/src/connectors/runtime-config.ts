import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import { effectiveConfig, pruneConfig } from '@connector-frame/catalog/validate';

/**
 * Returns the configuration that connection tests and pipelines use: absent settings get their
 * defaults, and hidden fields are removed. Secrets are bound to these effective settings, so it
 * makes no difference whether a default is stored.
 *
 * @param secrets values in plain text
 */
export const runtimeConfig = (
  { config: schema }: ConnectorTypeData,
  settings: Readonly<Record<string, unknown>>,
  secrets: ConnectorConfig['secrets'],
): ConnectorConfig => pruneConfig(schema, { settings: effectiveConfig(schema, settings).settings, secrets });
