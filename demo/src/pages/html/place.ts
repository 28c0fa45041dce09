import type { ComponentKind } from '@connector-frame/core/connect';

/** What the page shows: a kind's lists, or one connector of it (new without `connectorId`). */
export interface Place {
  kind: ComponentKind;
  typeId?: string | undefined;
  connectorId?: string | undefined;
}

export function readPlace(search: string): Place {
  const query = new URLSearchParams(search);
  return {
    kind: query.get('kind') === 'output' ? 'output' : 'input',
    typeId: query.get('type') ?? undefined,
    connectorId: query.get('id') ?? undefined,
  };
}

export function placeHref({ kind, typeId, connectorId }: Place): string {
  const query = new URLSearchParams({ kind });
  if (typeId) query.set('type', typeId);
  if (connectorId) query.set('id', connectorId);
  return `?${query}`;
}

/** Calls `show` with every place a person goes to: links with a query, back and forward. Answers the function to go by code. */
export function followPlaces(show: (place: Place) => void): (place: Place) => void {
  const here = () => show(readPlace(location.search));
  const go = (href: string) => {
    history.pushState(null, '', href);
    here();
  };
  addEventListener('popstate', here);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link?.getAttribute('href')?.startsWith('?') || !plain) return;
    event.preventDefault();
    go(link.href);
  });
  return (place) => go(placeHref(place));
}
