import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { boundValues, effectiveConfig } from '@connector-frame/catalog/validate';
import type { ListedDestination } from '../store/tables.js';
import { createDestination } from './destination.js';
import type { OrganizationVault, SecretValue } from './vault.js';

/** The transforms of an organization, in the list of a secret. They send it nowhere. */
export const TRANSFORMS: ListedDestination = { kind: 'transform', type: 'transform', settings: {}, text: 'transform' };

/**
 * Describes the destination of a connector for the list of a secret.
 *
 * @param settings settings of the connector, or those of them that address it
 * @param marked values of the connector's secrets that are addresses or protect them, by field
 */
export function listedDestination(
  type: ConnectorTypeData,
  settings: Readonly<Record<string, unknown>>,
  marked: ReadonlyMap<string, SecretValue>,
  vault: OrganizationVault,
): ListedDestination {
  const sorted = [...marked].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    kind: type.kind,
    type: type.type_id,
    settings: addressOf(type, settings),
    text: createDestination(type, settings).text(),
    ...(sorted.length > 0 && { secrets: vault.digest(JSON.stringify(['address', type.kind, type.type_id, sorted])) }),
  };
}

/** Returns the settings that are bound, without those that are absent or hidden. */
function addressOf(
  { config: schema }: ConnectorTypeData,
  settings: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const address: Record<string, unknown> = {};
  for (const [pointer, value] of boundValues(schema, effectiveConfig(schema, settings)))
    if (value !== undefined) setAt(address, pointer.slice(1).split('/'), value);
  return address;
}

function setAt(target: Record<string, unknown>, [key, ...rest]: string[], value: unknown): void {
  if (key === undefined) return;
  const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
  if (rest.length === 0) return void (target[name] = value);
  const inner = (target[name] ??= {});
  if (isObject(inner)) setAt(inner, rest, value);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
