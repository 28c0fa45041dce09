import type { ConnectorCancelEvent } from './connector-cancel-event.js';
import type { ConnectorErrorEvent } from './connector-error-event.js';
import type { ConnectorReadyEvent } from './connector-ready-event.js';
import type { ConnectorSaveEvent } from './connector-save-event.js';

/** The element's own events, by name. None bubbles or is composed. */
export interface ConnectorFrameEvents {
  ready: ConnectorReadyEvent;
  save: ConnectorSaveEvent;
  cancel: ConnectorCancelEvent;
  error: ConnectorErrorEvent;
}

/** All events of the element, by name: its own, and those of every HTML element. */
export type ConnectorFrameEventMap = Omit<HTMLElementEventMap, keyof ConnectorFrameEvents> & ConnectorFrameEvents;
