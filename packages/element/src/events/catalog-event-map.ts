import type { ConnectorErrorEvent } from './connector-error-event.js';
import type { ConnectorSelectEvent } from './connector-select-event.js';

/** The picker's own events by name. None of them bubbles or leaves a shadow root. */
export interface ConnectorCatalogEvents {
  select: ConnectorSelectEvent;
  error: ConnectorErrorEvent;
}

/** Every event of the picker by name: its own, and those that any HTML element has. */
export type ConnectorCatalogEventMap = Omit<HTMLElementEventMap, keyof ConnectorCatalogEvents> & ConnectorCatalogEvents;
