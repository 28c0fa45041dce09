import { gzipSync } from 'node:zlib';
import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorKind, ConnectorTypeData, SetupDefinition } from '@connector-frame/catalog/types';
import { textTag } from '../http/etag.js';
import { withoutAccount } from './without-account.js';

/** A serialized JSON response and its ETag. */
export interface CachedResponse {
  /** UTF-8, so that Node.js does not encode the same text for each request. */
  body: Uint8Array<ArrayBuffer>;
  tag: string;
  /**
   * Returns the gzip encoding, compressed on first use. Absent if the body was built for a single
   * call.
   */
  gzip?: () => Uint8Array<ArrayBuffer>;
}

/** Selects types. */
type TypeFilter = (type: ConnectorTypeData) => boolean;

export interface ListOptions {
  /** Only these types, in the order of the catalog. */
  typeIds?: readonly string[] | undefined;
  /** Include the fields of each type. */
  config?: boolean | undefined;
  /** Leaves out the other types. The list is kept for each function. */
  isOffered?: TypeFilter | undefined;
}

/**
 * Serves the catalog to clients. It changes only with a release, so each response is serialized
 * once, on first use.
 */
export interface CatalogResponses {
  list(kind: ConnectorKind, options?: ListOptions): CachedResponse;
  type(kind: ConnectorKind, typeId: string): CachedResponse | undefined;
}

export interface CatalogResponsesOptions {
  catalog: Catalog;
  supportsTest: (type: ConnectorTypeData) => boolean;
  /** Returns whether this release can run the type. */
  runs: (type: ConnectorTypeData) => boolean;
  /** Returns whether the operator has configured what the type needs. */
  isSetUp: (type: ConnectorTypeData) => boolean;
  /** Returns whether the operator has registered a client to connect accounts with. */
  hasClient: (type: ConnectorTypeData) => boolean;
  /** Returns the URL of a type's icon. */
  iconUrl: (typeId: string) => string;
}

export function createCatalogResponses({
  catalog,
  supportsTest,
  runs: isImplemented,
  isSetUp,
  hasClient,
  iconUrl,
}: CatalogResponsesOptions): CatalogResponses {
  const runs = (type: ConnectorTypeData): boolean => isImplemented(type) && isSetUp(type);
  const reasonOf = (type: ConnectorTypeData): string =>
    type.unavailable?.reason ?? (isImplemented(type) ? 'not_set_up' : 'not_yet');
  const head = (type: ConnectorTypeData) => ({
    type_id: type.type_id,
    kind: type.kind,
    name: type.name,
    description: type.description,
    category: type.category,
    vendor: type.vendor,
    supported_features: { test_connection: supportsTest(type), runtime: runs(type) },
    ...(!runs(type) && { unavailable: { reason: reasonOf(type) } }),
    ...(type.aliases && { aliases: type.aliases }),
    in_beta: type.in_beta ?? false,
    // Clients compare the major version.
    version: Number.parseInt(type.version, 10),
  });
  const fields = (type: ConnectorTypeData) => fieldsOf(hasClient(type) ? type : withoutAccount(type));
  const whole = (type: ConnectorTypeData) => {
    const svg = catalog.icon(type.type_id);
    return {
      ...head(type),
      icon: svg === undefined ? null : `data:image/svg+xml,${encodeURIComponent(svg)}`,
      ...fields(type),
      ...(type.setup && { setup: setupOf(type.setup) }),
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
      return {
        rows,
        all: compressible(listResponse(rows.values())),
        offered: new WeakMap<TypeFilter, CachedResponse>(),
      };
    };
    let heads: ReturnType<typeof list> | undefined;
    let full: ReturnType<typeof list> | undefined;
    const responses = new Map<string, CachedResponse>();
    return {
      heads: () => (heads ??= list(row)),
      full: () => (full ??= list((type) => ({ ...row(type), ...fields(type) }))),
      type(typeId: string): CachedResponse | undefined {
        const known = responses.get(typeId);
        const type = known ? undefined : catalog.get(kind, typeId);
        if (!type) return known;
        const response = compressible(toResponse(JSON.stringify(whole(type))));
        responses.set(typeId, response);
        return response;
      },
    };
  };
  const kinds = { input: make('input'), output: make('output'), enrichment: make('enrichment') };

  return {
    list(kind, { typeIds, config = false, isOffered } = {}) {
      const { rows, all, offered } = config ? kinds[kind].full() : kinds[kind].heads();
      if (!typeIds && !isOffered) return all;
      const known = typeIds ? undefined : isOffered && offered.get(isOffered);
      if (known) return known;
      const chosen = catalog
        .list(kind)
        .filter((type) => (typeIds?.includes(type.type_id) ?? true) && (isOffered?.(type) ?? true));
      const response = listResponse(chosen.map(({ type_id }) => rows.get(type_id) ?? ''));
      if (typeIds || !isOffered) return response;
      const kept = compressible(response);
      offered.set(isOffered, kept);
      return kept;
    },
    type: (kind, typeId) => kinds[kind].type(typeId),
  };
}

const listResponse = (rows: Iterable<string>): CachedResponse => toResponse(`[${[...rows].join(',')}]`);

function toResponse(text: string): CachedResponse {
  const body = new TextEncoder().encode(text);
  return { body, tag: textTag(body) };
}

function compressible(response: CachedResponse): CachedResponse {
  let gzip: Uint8Array<ArrayBuffer> | undefined;
  return { ...response, gzip: () => (gzip ??= Uint8Array.from(gzipSync(response.body, { level: 9 }))) };
}

const fieldsOf = ({ order, config, fixed_destination, oauth }: ConnectorTypeData) => ({
  ...(order ? { order } : {}),
  ...(fixed_destination ? { fixed_destination } : {}),
  ...(oauth ? { oauth: { name: oauth.name, secret: oauth.secret } } : {}),
  config,
});

/** Browsers don't need the pages that a setup was written from. */
const setupOf = (setup: SetupDefinition): object => ({ ...setup, documentation: undefined });
