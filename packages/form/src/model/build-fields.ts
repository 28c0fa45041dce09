import type { ConnectorConfigSchema } from '@connector-frame/catalog/types';
import type { ConfigMetaOverrides } from '@connector-frame/core/protocol';
import { buildGroup, type BuildContext } from './build-field.js';
import type { Field } from './field.js';

export interface BuildOptions {
  overrides?: ConfigMetaOverrides | undefined;
  synthetic?: boolean | undefined;
  /** Hears once about all override keys that the type does not have. */
  warn?: ((message: string) => void) | undefined;
}

/**
 * The form's fields from a type: what `order` names first, then required settings, secrets, optional settings; advanced
 * ones apart. Overrides change words only: what a secret is comes from the schema, whatever a host calls it.
 */
export function buildFields(
  { config, order = [] }: { config: ConnectorConfigSchema; order?: readonly string[] },
  { overrides = {}, synthetic = false, warn }: BuildOptions = {},
): { fields: Field[]; advanced: Field[] } {
  const context: BuildContext = { synthetic, unused: new Set() };
  const settings = buildGroup(config.settings, '/settings', 'settings', overrides.settings, context);
  const secrets = buildGroup(config.secrets, '/secrets', 'secrets', overrides.secrets, context);

  const all = [
    ...settings.filter(({ required }) => required),
    ...secrets,
    ...settings.filter(({ required }) => !required),
  ];
  const rank = ({ path }: Field): number => (order.includes(path) ? order.indexOf(path) : order.length);
  const ordered = all.toSorted((a, b) => rank(a) - rank(b));

  if (context.unused.size > 0)
    warn?.(
      `configMetaOverrides: this type has no field ${[...context.unused].join(', ')}. Check the keys for typing errors.`,
    );
  return { fields: ordered.filter(({ advanced }) => !advanced), advanced: ordered.filter(({ advanced }) => advanced) };
}
