import type { ComponentKind } from '@connector-frame/core/connect';
import { kindOf } from './lists.js';

/**
 * What the page shows: the lists of a kind, or the form of one connector (a new one without
 * `connectorId`).
 */
export interface Route {
  kind: ComponentKind;
  typeId?: string | undefined;
  connectorId?: string | undefined;
}

export function readRoute(): Route {
  const query = new URLSearchParams(location.search);
  return {
    kind: kindOf(query.get('kind')),
    typeId: query.get('type') ?? undefined,
    connectorId: query.get('id') ?? undefined,
  };
}

export function routeHref({ kind, typeId, connectorId }: Route): string {
  const query = new URLSearchParams({ kind });
  if (typeId) query.set('type', typeId);
  if (connectorId) query.set('id', connectorId);
  return `?${query}`;
}

/** Navigates to a route and notifies {@link onNavigate}. */
export function navigate(route: Route): void {
  history.pushState(null, '', routeHref(route));
  dispatchEvent(new PopStateEvent('popstate'));
}

/**
 * Calls `show` on every navigation: links with a query, back and forward. Also updates the current
 * item of the product's menu. Returns a function that removes the listeners.
 */
export function onNavigate(show: (route: Route) => void): () => void {
  const here = () => {
    const route = readRoute();
    for (const link of document.querySelectorAll<HTMLElement>('[data-kind]')) {
      if (link.dataset['kind'] === route.kind) link.setAttribute('aria-current', route.typeId ? 'true' : 'page');
      else link.removeAttribute('aria-current');
    }
    show(route);
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

/**
 * Moves the focus to the heading of a new view, so that keyboard and screen reader users continue
 * from there.
 */
export function focusView(): void {
  scrollTo(0, 0);
  document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
}
