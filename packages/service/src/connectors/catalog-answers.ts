import { gzipSync } from 'node:zlib';
import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorKind, ConnectorTypeData } from '@connector-frame/catalog/types';
import { textTag } from '../http/etag.js';

/** JSON made once, and its ETag. */
export interface MadeAnswer {
  text: string;
  tag: string;
  /** The same for who reads gzip, made when it is first asked for; absent where the text is made for one call. */
  gzip?: () => Uint8Array<ArrayBuffer>;
}

export interface ListOptions {
  /** Only these, in the catalog's order. */
  typeIds?: readonly string[] | undefined;
  /** With the fields of each. */
  config?: boolean | undefined;
}

/** The catalog as clients read it. It changes with the release only, so every answer is made at the start. */
export interface CatalogAnswers {
  list(kind: ConnectorKind, options?: ListOptions): MadeAnswer;
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
      icon: svg === undefined ? null : `data:image/svg+xml,${encodeURIComponent(svg)}`,
      ...fields(type),
    };
  };
  const row = (type: ConnectorTypeData) => ({
    ...head(type),
    icon: catalog.icon(type.type_id) === undefined ? null : iconUrl(type.type_id),
  });

  const make = (kind: ConnectorKind) => {
    const types = catalog.list(kind);
    const list = (rowOf: (type: ConnectorTypeData) => object) => {
      const rows = new Map(types.map((type) => [type.type_id, JSON.stringify(rowOf(type))]));
      return { rows, all: compressible(made(rows.values())) };
    };
    // Nobody may ever ask for all fields of all types.
    let full: ReturnType<typeof list> | undefined;
    return {
      heads: list(row),
      full: () => (full ??= list((type) => ({ ...row(type), ...fields(type) }))),
      types: new Map(types.map((type) => [type.type_id, compressible(answer(JSON.stringify(whole(type))))])),
    };
  };
  const kinds = { input: make('input'), output: make('output') };

  return {
    list(kind, { typeIds, config = false } = {}) {
      const { rows, all } = config ? kinds[kind].full() : kinds[kind].heads;
      if (!typeIds) return all;
      return made([...rows].filter(([typeId]) => typeIds.includes(typeId)).map(([, text]) => text));
    },
    type: (kind, typeId) => kinds[kind].types.get(typeId),
  };
}

const made = (rows: Iterable<string>): MadeAnswer => answer(`[${[...rows].join(',')}]`);
const answer = (text: string): MadeAnswer => ({ text, tag: textTag(text) });

function compressible(made: MadeAnswer): MadeAnswer {
  let gzip: Uint8Array<ArrayBuffer> | undefined;
  return { ...made, gzip: () => (gzip ??= Uint8Array.from(gzipSync(made.text, { level: 9 }))) };
}

const fields = ({ order, config, fixed_destination }: ConnectorTypeData) => ({
  ...(order ? { order } : {}),
  ...(fixed_destination ? { fixed_destination } : {}),
  config,
});
