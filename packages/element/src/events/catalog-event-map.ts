import type { ConnectorErrorEvent } from './connector-error-event.js';
import type { ConnectorSelectEvent } from './connector-select-event.js';

/** The catalog's own events, by name. None bubbles or is composed. */
export interface ConnectorCatalogEvents {
  select: ConnectorSelectEvent;
  error: ConnectorErrorEvent;
}

/** All events of the catalog, by name: its own, and those of every HTML element. */
export type ConnectorCatalogEventMap = Omit<HTMLElementEventMap, keyof ConnectorCatalogEvents> & ConnectorCatalogEvents;
