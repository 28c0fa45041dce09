import type { ConnectorConfig, DeliveryDefinition } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';

/** Returns the definition for a configuration: with what is different for its choice. */
export function variantOf(definition: DeliveryDefinition, config: ConnectorConfig): DeliveryDefinition {
  const { variants } = definition;
  const value: unknown = variants && getAt(config, variants.field);
  const key = typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined;
  const isKnown = key !== undefined && variants !== undefined && Object.hasOwn(variants.of, key);
  return isKnown ? { ...definition, ...variants.of[key] } : definition;
}
