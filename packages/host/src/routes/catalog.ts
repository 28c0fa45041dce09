import type { CatalogType } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { kindOf, queryFields } from '../fields.js';
import { HostError } from '../host-error.js';
import { json } from '../json.js';
import { isRecord, type UnknownRecord } from '../is-record.js';
import type { Route, RouteTools } from '../route.js';

/**
 * Cache lifetime in milliseconds. The catalog is the same for everyone, so requests must not each
 * cause a call to the service.
 */
const CACHE_TTL_MS = 60_000;

/** `GET /catalog?kind=`: returns the types that this host offers. */
export function catalogRoute<Context>({ options, service }: RouteTools<Context>): Route<Context> {
  const cache = new Map<ComponentKind, { until: number; types: Promise<CatalogType[]> }>();

  async function load(kind: ComponentKind): Promise<CatalogType[]> {
    const body = await service(`/v1/${kind}s`, {});
    if (!Array.isArray(body)) throw new HostError('upstream_error', 'The service sent an unexpected response.');
    const offered = options.allow && new Set(options.allow[kind]);
    return body
      .filter(isRecord)
      .flatMap((row) => catalogType(row, options.apiBase))
      .filter((type) => !offered || offered.has(type.type_id));
  }

  return {
    method: 'GET',
    async handle({ url }) {
      const kind = kindOf(queryFields(url));
      let entry = cache.get(kind);
      if (!entry || entry.until <= Date.now()) {
        entry = { until: Date.now() + CACHE_TTL_MS, types: load(kind) };
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
  const { type_id, name, description, category, icon, supported_features } = row;
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
    },
  ];
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
