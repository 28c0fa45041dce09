import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { pruneConfig, withDefaults } from '@connector-frame/catalog/validate';

type Settings = Record<string, unknown>;

/**
 * Returns the settings that a type declares and shows, as they are stored. Settings of an earlier
 * release may contain others.
 */
export const declaredSettings = ({ config }: ConnectorTypeData, stored: Readonly<Settings>): Settings =>
  givenSettings(stored, pruneConfig(config, withDefaults(config, { settings: stored })).settings);

/**
 * Returns the settings to store: those that were given, so that a client reads its own document
 * back. Defaults apply when the connector runs.
 * @param pruned the given settings with their defaults, without those that are hidden
 */
export function givenSettings(given: Readonly<Settings>, pruned: Readonly<Settings>): Settings {
  const parts = Object.entries(pruned).flatMap(([key, value]): [string, unknown][] => {
    if (!Object.hasOwn(given, key)) return [];
    const own = given[key];
    if (!isObject(own) || !isObject(value)) return [[key, value]];
    const part = givenSettings(own, value);
    return Object.keys(part).length > 0 ? [[key, part]] : [];
  });
  return Object.fromEntries(parts);
}

const isObject = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
