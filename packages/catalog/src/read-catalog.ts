import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTOR_KINDS } from './connector-kinds.js';
import type { ConnectorKind, ConnectorTypeData } from './types.js';

/**
 * All connector types. Returned values are frozen and shared: copy them before changing anything.
 */
export interface Catalog {
  /** Returns all types of a kind, sorted by name. */
  list(kind: ConnectorKind): readonly ConnectorTypeData[];
  /** Returns a type with its schemas, or undefined if the ID is unknown. */
  get(kind: ConnectorKind, typeId: string): ConnectorTypeData | undefined;
  /** Returns the vendor's mark as minified SVG, or undefined if a monogram is to be shown. */
  icon(typeId: string): string | undefined;
  /** Returns the name of that mark, which all types of a vendor share. */
  iconName(typeId: string): string | undefined;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`${path} cannot be read. Build the catalog first: npm run build -w packages/catalog`, { cause });
  }
}

/**
 * Reads a catalog that the build wrote to `directory`. Icons are read on first use.
 * @throws Error if a file can't be read
 */
export function readCatalog(directory: string): Catalog {
  const file: { types: ConnectorTypeData[] } = JSON.parse(readText(join(directory, 'catalog.json')));
  const types = deepFreeze(file.types);
  const ofKind = (kind: ConnectorKind): readonly ConnectorTypeData[] =>
    Object.freeze(types.filter((type) => type.kind === kind));
  const lists = { input: ofKind('input'), output: ofKind('output'), enrichment: ofKind('enrichment') };
  const mapOf = (kind: ConnectorKind) => new Map(lists[kind].map((type) => [type.type_id, type]));
  const byId = { input: mapOf('input'), output: mapOf('output'), enrichment: mapOf('enrichment') };
  const svgs = new Map<string, string>();

  const iconName = (typeId: string): string | undefined =>
    CONNECTOR_KINDS.map((kind) => byId[kind].get(typeId)).find((type) => type !== undefined)?.icon;
  return Object.freeze({
    list: (kind: ConnectorKind) => lists[kind],
    get: (kind: ConnectorKind, typeId: string) => byId[kind].get(typeId),
    iconName,
    icon: (typeId: string) => {
      const name = iconName(typeId);
      if (name === undefined) return undefined;
      const known = svgs.get(name) ?? readText(join(directory, 'icons', `${name}.svg`));
      svgs.set(name, known);
      return known;
    },
  });
}
