import type { Received, Reply } from './vendor.js';

/** Decides the result of a document: the status of its item and its error; undefined creates it. */
export type Verdict = (document: Record<string, unknown>, id: string) => { status: number; error?: object } | undefined;

export interface FakeCluster {
  /** Created documents, by id. */
  documents: Map<string, Record<string, unknown>>;
  respond: (request: Received) => Reply;
}

/**
 * Creates a server for `_bulk` with `create`, as Elasticsearch and OpenSearch document it: pairs of
 * lines in, one item per document out, 409 for an existing id. It does not emulate either product's
 * checks of fields and mappings.
 */
export function createFakeCluster(authorization: string, verdict: Verdict = () => undefined): FakeCluster {
  const documents = new Map<string, Record<string, unknown>>();
  return {
    documents,
    respond({ method, url, headers, body }) {
      if (headers.authorization !== authorization) return { status: 401, body: { status: 401 } };
      if (method === 'GET') return { body: { username: 'writer' } };
      if (method !== 'POST' || !url.startsWith('/_bulk')) return { status: 404 };
      if (headers['content-type'] !== 'application/x-ndjson' || !body.endsWith('\n')) return { status: 406 };
      const lines = body.split('\n').slice(0, -1);
      const items = [];
      for (let at = 0; at < lines.length; at += 2) {
        const action: { create: { _index: string; _id: string } } = JSON.parse(lines[at] ?? '');
        const document: Record<string, unknown> = JSON.parse(lines[at + 1] ?? '');
        const { _id: id } = action.create;
        const given = documents.has(id)
          ? { status: 409, error: { type: 'version_conflict_engine_exception', reason: `[${id}]: version conflict` } }
          : verdict(document, id);
        if (!given) documents.set(id, document);
        items.push({ create: given ?? { status: 201 } });
      }
      return { body: { errors: items.some(({ create }) => create.status > 299), items } };
    },
  };
}
