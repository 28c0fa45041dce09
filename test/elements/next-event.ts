import type { ConnectorFrameElement, ConnectorFrameEvents } from '@connector-frame/element';
import type { ConnectorCatalogElement, ConnectorCatalogEvents } from '@connector-frame/element/catalog';

/** Resolves with the next event of one of the two elements. Typed, unlike `oneEvent`. */
export function nextEvent<K extends keyof ConnectorFrameEvents>(
  element: ConnectorFrameElement,
  type: K,
): Promise<ConnectorFrameEvents[K]>;
export function nextEvent<K extends keyof ConnectorCatalogEvents>(
  element: ConnectorCatalogElement,
  type: K,
): Promise<ConnectorCatalogEvents[K]>;
export function nextEvent(element: Element, type: string): Promise<Event> {
  return new Promise((resolve) => element.addEventListener(type, resolve, { once: true }));
}
