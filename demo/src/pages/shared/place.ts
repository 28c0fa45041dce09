import type { ComponentKind } from '@connector-frame/core/connect';

/** What the page shows: a kind's lists, or one connector of it (new without `connectorId`). */
export interface Place {
  kind: ComponentKind;
  typeId?: string | undefined;
  connectorId?: string | undefined;
}

export function readPlace(): Place {
  const query = new URLSearchParams(location.search);
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

/** Shows a place and tells {@link followPlaces}. */
export function goTo(place: Place): void {
  history.pushState(null, '', placeHref(place));
  dispatchEvent(new PopStateEvent('popstate'));
}

/**
 * Calls `show` with every place a person goes to: links with a query, back and forward. The product's own menu follows. Answers the function that stops
 * it.
 */
export function followPlaces(show: (place: Place) => void): () => void {
  const here = () => {
    const place = readPlace();
    for (const link of document.querySelectorAll<HTMLElement>('[data-kind]')) {
      if (link.dataset['kind'] === place.kind) link.setAttribute('aria-current', place.typeId ? 'true' : 'page');
      else link.removeAttribute('aria-current');
    }
    show(place);
  };
  const click = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link?.getAttribute('href')?.startsWith('?') || !plain) return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    here();
  };
  addEventListener('popstate', here);
  document.addEventListener('click', click);
  return () => {
    removeEventListener('popstate', here);
    document.removeEventListener('click', click);
  };
}

/** Another view: its heading gets the focus, so that a keyboard and a screen reader go on from there. */
export function enterView(): void {
  scrollTo(0, 0);
  document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
}
