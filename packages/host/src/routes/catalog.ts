import type { CatalogType, UnavailableReason } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { idsOf, unknownTypes } from '../check-allow.js';
import { kindOf, queryFields } from '../fields.js';
import { json } from '../json.js';
import { isRecord, type UnknownRecord } from '../is-record.js';
import { loadTypes } from '../load-types.js';
import type { Route, RouteTools } from '../route.js';

/**
 * Cache lifetime in milliseconds. The catalog is the same for everyone, so requests must not each
 * cause a call to the service.
 */
const CACHE_TTL_MS = 60_000;

const REASONS = ['not_yet', 'not_set_up', 'agent', 'proprietary', 'withdrawn'] as const satisfies UnavailableReason[];

/** `GET /catalog?kind=`: returns the types that this host offers. */
export function catalogRoute<Context>({ options, service }: RouteTools<Context>): Route<Context> {
  const cache = new Map<ComponentKind, { until: number; types: Promise<CatalogType[]> }>();
  /** The kinds whose unknown IDs were reported, or that have none. */
  const reported = new Set<ComponentKind>();

  async function load(kind: ComponentKind, request: Request): Promise<CatalogType[]> {
    const rows = await loadTypes(service, kind);
    const types = rows.flatMap((row) => catalogType(row, options.apiBase));
    const { allow } = options;
    if (!allow) return types;
    const error = unknownTypes(allow, { [kind]: idsOf(rows) });
    if (error && !reported.has(kind)) options.onError(error, request);
    reported.add(kind);
    const offered = new Set(allow[kind]);
    return types.filter((type) => offered.has(type.type_id));
  }

  return {
    method: 'GET',
    async handle({ request, url }) {
      const kind = kindOf(queryFields(url));
      let entry = cache.get(kind);
      if (!entry || entry.until <= Date.now()) {
        entry = { until: Date.now() + CACHE_TTL_MS, types: load(kind, request) };
        cache.set(kind, entry);
      }
      const { types } = entry;
      try {
        return json(await types, { keep: true });
      } catch (error) {
        // Failures are not cached.
        if (cache.get(kind)?.types === types) cache.delete(kind);
        throw error;
      }
    },
  };
}

function catalogType(row: UnknownRecord, apiBase: string): CatalogType[] {
  const { type_id, name, description, category, icon, supported_features, aliases } = row;
  const runtime = isRecord(supported_features) ? supported_features['runtime'] : undefined;
  if (typeof type_id !== 'string' || type_id === '') return [];
  return [
    {
      type_id,
      name: typeof name === 'string' ? name : type_id,
      description: typeof description === 'string' ? description : '',
      category: typeof category === 'string' ? category : '',
      icon: iconAddress(type_id, icon, apiBase),
      ...(typeof runtime === 'boolean' && { runtime }),
      ...(runtime === false && unavailable(row['unavailable'])),
      ...(Array.isArray(aliases) && { aliases: aliases.filter((alias) => typeof alias === 'string') }),
    },
  ];
}

/** A reason that this release does not know says no more than none. */
function unavailable(value: unknown): Pick<CatalogType, 'unavailable'> {
  const reason = REASONS.find((known) => isRecord(value) && value['reason'] === known);
  return reason ? { unavailable: { reason } } : {};
}

/**
 * `null` means that the type has no icon. If the service sends no URL, the icon is at the well-known
 * path, which may respond with 404.
 */
function iconAddress(typeId: string, icon: unknown, apiBase: string): string | null {
  if (icon === null) return null;
  const known = `${apiBase}/external/icons/raw/${encodeURIComponent(typeId)}.svg`;
  if (typeof icon !== 'string' || !URL.canParse(icon, `${apiBase}/`)) return known;
  const url = new URL(icon, `${apiBase}/`);
  return /^https?:$/.test(url.protocol) ? url.href : known;
}
