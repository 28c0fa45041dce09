import type { CatalogType, ComponentKind, ConfiguredConnector } from '@connector-frame/core/connect';

/** The words of a kind's lists and forms. */
export const words: Record<ComponentKind, { title: string; list: string; one: string; none: string }> = {
  input: {
    title: 'Connect your data',
    list: 'Data sources',
    one: 'data source',
    none: 'No data sources yet. Pick a product below, and its events start to flow here.',
  },
  output: {
    title: 'Send your data on',
    list: 'Destinations',
    one: 'destination',
    none: 'No destinations yet. Pick a product below to send what Northwind finds there.',
  },
};

/** The categories that some type is in, by name. */
export function categoriesOf(types: readonly CatalogType[]): string[] {
  return [...new Set(types.map(({ category }) => category))].filter(Boolean).sort((a, b) => a.localeCompare(b));
}

/** "12", or "3 of 12" when some are left out. */
export function countOf(found: readonly unknown[], all: readonly unknown[]): string {
  if (all.length === 0) return '';
  return found.length === all.length ? `${all.length}` : `${found.length} of ${all.length}`;
}

/** What a row of the connected ones says. */
export function describe({ id, name, type_id }: ConfiguredConnector, types: readonly CatalogType[]) {
  const type = types.find((one) => one.type_id === type_id);
  const typeName = type?.name ?? type_id;
  return { icon: type?.icon, typeName, name: name || typeName, about: `${typeName} · ${id.slice(0, 8)}` };
}

/** The one that was just saved, then the newest first: who has many needs not look for it. They come oldest first. */
export function newestFirst(connectors: readonly ConfiguredConnector[], savedId: string | undefined) {
  const saved = connectors.filter(({ id }) => id === savedId);
  return [...saved, ...connectors.filter(({ id }) => id !== savedId).toReversed()];
}
