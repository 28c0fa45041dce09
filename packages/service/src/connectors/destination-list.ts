import { z } from '@hono/zod-openapi';
import type { Catalog } from '@connector-frame/catalog';
import { validateConfig, withDefaults } from '@connector-frame/catalog/validate';
import { invalidRequest } from '../api-error.js';
import { listedDestination, TRANSFORMS } from '../secrets/listed-destination.js';
import type { OrganizationVault } from '../secrets/vault.js';
import type { ListedDestination } from '../store/tables.js';

/** Destinations per secret that clients can list. Connectors that refer to it can add more. */
const MAX_DESTINATIONS = 100;

export const DestinationList = z
  .array(
    z
      .strictObject({
        kind: z.enum(['input', 'output', 'transform']),
        /** Absent for transforms. */
        type: z.string().default('transform').openapi({ description: '`type_id` of a connector type.' }),
        settings: z
          .record(z.string(), z.unknown())
          .default({})
          .openapi({ description: 'The settings that address it. Absent ones have their defaults.' }),
      })
      .openapi('SecretDestinationWrite'),
  )
  .max(MAX_DESTINATIONS);

/**
 * Reads the destinations of a request.
 * @throws ApiError 400 for an unknown type, or settings that the type doesn't have
 */
export function readDestinations(
  list: z.output<typeof DestinationList>,
  catalog: Catalog,
  vault: OrganizationVault,
): ListedDestination[] {
  return list.map(({ kind, type: typeId, settings }, index) => {
    const path = `/destinations/${index}`;
    if (kind === 'transform' && typeId === 'transform' && Object.keys(settings).length === 0) return TRANSFORMS;
    const type = kind === 'transform' ? undefined : catalog.get(kind, typeId);
    if (!type) throw invalid([{ path: `${path}/type`, code: 'enum' }]);
    // The other settings of a connector don't matter here, so required ones may be absent.
    const issues = validateConfig(type.config, withDefaults(type.config, { settings }))
      .filter((issue) => issue.path.startsWith('/settings/') && issue.code !== 'required')
      .map(({ path: at, code }) => ({ path: `${path}${at}`, code }));
    if (issues.length > 0) throw invalid(issues);
    return listedDestination(type, settings, new Map(), vault);
  });
}

const invalid = (issues: { path: string; code: string }[]) =>
  invalidRequest('A destination names a connector type, and those of its settings that address it.', { issues });
