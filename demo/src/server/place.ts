import type { ComponentKind } from '@connector-frame/core/connect';

/** What an address of a page asks for. Everything in it came from outside. */
export interface PagePlace {
  kind: ComponentKind;
  /** The type whose form is open; empty for the lists. */
  typeId: string;
  /** The connector that is edited; empty for a new one. */
  connectorId: string;
  /** Words that narrow the catalog. */
  words: string;
  category: string;
  /** One was just deleted. */
  isDeleted: boolean;
  /** The connector that was just saved, and whether it was there before. */
  saved?: { id: string; how: 'connected' | 'updated' };
}

export function placeOf(url: URL): PagePlace {
  const read = (name: string) => url.searchParams.get(name) ?? '';
  const how = url.searchParams.has('updated') ? 'updated' : 'connected';
  const id = read(how);
  return {
    kind: read('kind') === 'output' ? 'output' : 'input',
    typeId: read('type'),
    connectorId: read('id'),
    words: read('q'),
    category: read('category'),
    isDeleted: url.searchParams.has('deleted'),
    ...(id !== '' && { saved: { id, how } }),
  };
}
