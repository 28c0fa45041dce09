import type { CatalogType } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { kindOf, queryFields } from '../fields.js';
import { HostError } from '../host-error.js';
import { json } from '../json.js';
import { isRecord, type UnknownRecord } from '../is-record.js';
import type { Route, RouteTools } from '../route.js';

/** Milliseconds the catalog is kept: it is the same for everyone and asks for no tenant, so it must not cost a call each time. */
const keptFor = 60_000;

/** `GET /catalog?kind=`: the types this host offers. */
export function catalogRoute<Context>({ options, service }: RouteTools<Context>): Route<Context> {
  const kept = new Map<ComponentKind, { until: number; types: Promise<CatalogType[]> }>();

  async function load(kind: ComponentKind): Promise<CatalogType[]> {
    const answer = await service(`/v1/${kind}s`, {});
    if (!Array.isArray(answer)) throw new HostError('upstream_error', 'The service answered in an unknown shape.');
    const offered = options.allow && new Set(options.allow[kind]);
    return answer
      .filter(isRecord)
      .flatMap((row) => catalogType(row, options.apiBase))
      .filter((type) => !offered || offered.has(type.type_id));
  }

  return {
    method: 'GET',
    async answer({ url }) {
      const kind = kindOf(queryFields(url));
      let entry = kept.get(kind);
      if (!entry || entry.until <= Date.now()) {
        entry = { until: Date.now() + keptFor, types: load(kind) };
        kept.set(kind, entry);
      }
      const { types } = entry;
      try {
        return json(await types, { keep: true });
      } catch (error) {
        // Do not cache failures.
        if (kept.get(kind)?.types === types) kept.delete(kind);
        throw error;
      }
    },
  };
}

function catalogType(row: UnknownRecord, apiBase: string): CatalogType[] {
  const { type_id, name, description, category, icon } = row;
  if (typeof type_id !== 'string' || type_id === '') return [];
  return [
    {
      type_id,
      name: typeof name === 'string' ? name : type_id,
      description: typeof description === 'string' ? description : '',
      category: typeof category === 'string' ? category : '',
      icon: iconAddress(type_id, icon, apiBase),
    },
  ];
}

/** `null` says that there is no mark; where the service says nothing, it is at the well-known address, or that answers 404. */
function iconAddress(typeId: string, icon: unknown, apiBase: string): string | null {
  if (icon === null) return null;
  const known = `${apiBase}/external/icons/raw/${encodeURIComponent(typeId)}.svg`;
  if (typeof icon !== 'string' || !URL.canParse(icon, `${apiBase}/`)) return known;
  const url = new URL(icon, `${apiBase}/`);
  return /^https?:$/.test(url.protocol) ? url.href : known;
}
