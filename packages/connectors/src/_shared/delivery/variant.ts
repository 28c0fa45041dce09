import type { ConnectorConfig, DeliveryDefinition } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';

/** Returns the definition for a configuration: with what is different for its choice. */
export function variantOf(definition: DeliveryDefinition, config: ConnectorConfig): DeliveryDefinition {
  const { variants } = definition;
  const value: unknown = variants && getAt(config, variants.field);
  const isKnown = typeof value === 'string' && variants !== undefined && Object.hasOwn(variants.of, value);
  return isKnown ? { ...definition, ...variants.of[value] } : definition;
}
