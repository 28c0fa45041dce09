import type { ComponentKind } from '@connector-frame/core/connect';
import { kindOf } from '../pages/shared/lists.js';

/** The query of a page URL, which is untrusted input. */
export interface PageQuery {
  kind: ComponentKind;
  /** Type of the open form; empty for the lists. */
  typeId: string;
  /** The connector being edited; empty for a new one. */
  connectorId: string;
  /** Search terms for the catalog. */
  words: string;
  category: string;
  /** A connection was just deleted. */
  isDeleted: boolean;
  /** The connector just saved, and whether it was created or updated. */
  saved?: { id: string; how: 'saved' | 'updated' };
}

export function readPageQuery(url: URL): PageQuery {
  const read = (name: string) => url.searchParams.get(name) ?? '';
  const how = url.searchParams.has('updated') ? 'updated' : 'saved';
  const id = read(how);
  return {
    kind: kindOf(read('kind')),
    typeId: read('type'),
    connectorId: read('id'),
    words: read('q'),
    category: read('category'),
    isDeleted: url.searchParams.has('deleted'),
    ...(id !== '' && { saved: { id, how } }),
  };
}
