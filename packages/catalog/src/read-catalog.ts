import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectorKind, ConnectorTypeData } from './types.js';

/** Every connector type there is. Answers are frozen and shared: copy before changing anything. */
export interface Catalog {
  /** All types of a kind, sorted by name. */
  list(kind: ConnectorKind): readonly ConnectorTypeData[];
  /** One type, with its schemas; undefined when there is none of that id. */
  get(kind: ConnectorKind, typeId: string): ConnectorTypeData | undefined;
  /** Minified SVG of the vendor's mark; undefined where a monogram is to be shown. */
  icon(typeId: string): string | undefined;
  /** Name of that mark, shared by all types of a vendor. */
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
    throw new Error(`${path} can not be read. Build the catalog first: npm run build -w packages/catalog`, { cause });
  }
}

/** Reads a catalog that the build wrote to `directory`. Icons are read when first asked for. */
export function readCatalog(directory: string): Catalog {
  const file: { types: ConnectorTypeData[] } = JSON.parse(readText(join(directory, 'catalog.json')));
  const types = deepFreeze(file.types);
  const ofKind = (kind: ConnectorKind): readonly ConnectorTypeData[] =>
    Object.freeze(types.filter((type) => type.kind === kind));
  const lists = { input: ofKind('input'), output: ofKind('output') };
  const byId = {
    input: new Map(lists.input.map((type) => [type.type_id, type])),
    output: new Map(lists.output.map((type) => [type.type_id, type])),
  };
  const svgs = new Map<string, string>();

  const iconName = (typeId: string): string | undefined => (byId.input.get(typeId) ?? byId.output.get(typeId))?.icon;
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
