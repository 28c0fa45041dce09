import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorKind, ConnectorTypeData } from '@connector-frame/catalog/types';
import { textTag } from '../http/etag.js';

/** JSON made once, and its ETag. */
export interface MadeAnswer {
  text: string;
  tag: string;
}

/** The catalog as clients read it. It changes with the release only, so every answer is made at the start. */
export interface CatalogAnswers {
  /** @param typeIds only these, in the catalog's order */
  list(kind: ConnectorKind, typeIds?: readonly string[]): MadeAnswer;
  type(kind: ConnectorKind, typeId: string): MadeAnswer | undefined;
}

export interface CatalogAnswersOptions {
  catalog: Catalog;
  supportsTest: (type: ConnectorTypeData) => boolean;
  /** Whether pipelines with it run. */
  runs: (type: ConnectorTypeData) => boolean;
  /** Address of a type's icon. */
  iconUrl: (typeId: string) => string;
}

export function createCatalogAnswers({ catalog, supportsTest, runs, iconUrl }: CatalogAnswersOptions): CatalogAnswers {
  const head = (type: ConnectorTypeData) => ({
    type_id: type.type_id,
    kind: type.kind,
    name: type.name,
    description: type.description,
    category: type.category,
    vendor: type.vendor,
    supported_features: { test_connection: supportsTest(type), runtime: runs(type) },
    in_beta: type.in_beta ?? false,
    version: type.version,
  });
  const whole = (type: ConnectorTypeData) => {
    const svg = catalog.icon(type.type_id);
    return {
      ...head(type),
      ...(type.order ? { order: type.order } : {}),
      icon: svg === undefined ? null : `data:image/svg+xml,${encodeURIComponent(svg)}`,
      config: type.config,
    };
  };
  const row = (type: ConnectorTypeData) => ({
    ...head(type),
    icon: catalog.icon(type.type_id) === undefined ? null : iconUrl(type.type_id),
  });

  const make = (kind: ConnectorKind) => {
    const types = catalog.list(kind);
    const rows = new Map(types.map((type) => [type.type_id, JSON.stringify(row(type))]));
    return {
      rows,
      all: made(rows.values()),
      types: new Map(types.map((type) => [type.type_id, answer(JSON.stringify(whole(type)))])),
    };
  };
  const kinds = { input: make('input'), output: make('output') };

  return {
    list(kind, typeIds) {
      const { rows, all } = kinds[kind];
      if (!typeIds) return all;
      return made([...rows].filter(([typeId]) => typeIds.includes(typeId)).map(([, text]) => text));
    },
    type: (kind, typeId) => kinds[kind].types.get(typeId),
  };
}

const made = (rows: Iterable<string>): MadeAnswer => answer(`[${[...rows].join(',')}]`);
const answer = (text: string): MadeAnswer => ({ text, tag: textTag(text) });
