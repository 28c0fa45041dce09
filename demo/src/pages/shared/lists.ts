import type { CatalogType, ComponentKind, ConfiguredConnector, UnavailableReason } from '@connector-frame/core/connect';

/** Texts of the lists and forms, by kind. */
export const words: Record<ComponentKind, { title: string; list: string; one: string; none: string }> = {
  input: {
    title: 'Connect your data',
    list: 'Data sources',
    one: 'data source',
    none: 'No data sources yet. Pick a product below. If data can flow from it, start its pipeline once it is saved.',
  },
  output: {
    title: 'Send your data on',
    list: 'Destinations',
    one: 'destination',
    none: 'No destinations yet. Pick a product below. If data can flow to it, pipelines can use it once it is saved.',
  },
  enrichment: {
    title: 'Add to your data',
    list: 'Lookups',
    one: 'lookup',
    none: 'No lookups yet. Pick one below; pipelines can use it once it is saved.',
  },
};

/** Shown with types and connectors that the service can save, but not run; as in the form. */
export const whyUnavailable = {
  savedOnly: 'Can be saved, but no data flows yet.',
  needsAgent: 'No data can flow: it needs an agent on the host.',
  proprietary: 'No data can flow: its protocol is not public.',
  withdrawn: 'No data can flow: the vendor has withdrawn this API.',
};

const byReason: Record<UnavailableReason, string> = {
  not_yet: whyUnavailable.savedOnly,
  not_set_up: whyUnavailable.savedOnly,
  agent: whyUnavailable.needsAgent,
  proprietary: whyUnavailable.proprietary,
  withdrawn: whyUnavailable.withdrawn,
};

/** Returns why no data can flow from or to a type. `undefined`: it can. */
export const limitOf = (type: CatalogType | undefined): string | undefined =>
  type?.runtime === false ? byReason[type.unavailable?.reason ?? 'not_yet'] : undefined;

/** Returns the categories of the given types, sorted by name. */
export function categoriesOf(types: readonly CatalogType[]): string[] {
  return [...new Set(types.map(({ category }) => category))].filter(Boolean).sort((a, b) => a.localeCompare(b));
}

/** Returns "12", or "3 of 12" if some are filtered out. Returns `''` for an empty list. */
export function countOf(found: readonly unknown[], all: readonly unknown[]): string {
  if (all.length === 0) return '';
  return found.length === all.length ? `${all.length}` : `${found.length} of ${all.length}`;
}

/** Returns what a row of the connection list shows. */
export function describe({ id, name, type_id }: ConfiguredConnector, types: readonly CatalogType[]) {
  const type = types.find((one) => one.type_id === type_id);
  const typeName = type?.name ?? type_id;
  return {
    icon: type?.icon,
    typeName,
    name: name || typeName,
    about: `${typeName} · ${id.slice(0, 8)}`,
    limit: limitOf(type),
  };
}

/**
 * Sorts connectors newest first, with the one just saved on top, so that it is easy to find in a
 * long list. The service returns them oldest first.
 */
export function newestFirst(connectors: readonly ConfiguredConnector[], savedId: string | undefined) {
  const saved = connectors.filter(({ id }) => id === savedId);
  return [...saved, ...connectors.filter(({ id }) => id !== savedId).toReversed()];
}

/** Returns the kind that a page or its query names. Others are inputs. */
export function kindOf(value: string | null): ComponentKind {
  return value === 'output' || value === 'enrichment' ? value : 'input';
}
