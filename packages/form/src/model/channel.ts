import {
  PROTOCOL_SOURCE,
  parseHostMessage,
  type FrameMessage,
  type HostMessage,
  type SavedConnector,
} from '@connector-frame/core/protocol';
import type { Failure } from './state.js';

/** Every message that the form sends to the host page. */
export interface Channel {
  /** The form is displayed. */
  loaded(title: string): void;
  /** Height of the content in CSS pixels. */
  resize: (height: number) => void;
  saved(connector: SavedConnector): void;
  /** A human-readable message and a stable code; never user input. */
  error(failure: Failure): void;
  cancel: () => void;
  requestSession: () => void;
  /** Whether there is input that a reload of the page would lose. */
  dirty(dirty: boolean): void;
  /** The host may remove the frame. */
  left: () => void;
}

export interface Messenger {
  post: (message: FrameMessage) => void;
  /** Subscribes to all messages of the window. They are not validated. */
  listen: (listener: (event: Pick<MessageEvent, 'data' | 'origin' | 'source'>) => void) => void;
}

export function createChannel({ post }: Pick<Messenger, 'post'>): Channel {
  const source = PROTOCOL_SOURCE;
  return {
    loaded: (title) => post({ source, type: 'loaded', title }),
    resize: (height) => post({ source, type: 'resize', height }),
    saved: (connector) => post({ source, type: 'saved', connector }),
    error: ({ message, hint, code }) =>
      post({ source, type: 'error', message: hint ? `${message}. ${hint}` : message, code }),
    cancel: () => post({ source, type: 'cancel' }),
    requestSession: () => post({ source, type: 'session_request' }),
    dirty: (dirty) => post({ source, type: 'dirty', dirty }),
    left: () => post({ source, type: 'left' }),
  };
}

/** Calls `receive` with each valid message from the given window and origin. */
export function onHostMessage(
  listen: Messenger['listen'],
  { source, origin }: { source: MessageEventSource | null; origin: string },
  receive: (message: HostMessage) => void,
): void {
  listen((event) => {
    if (event.source !== source || event.origin !== origin) return;
    const message = parseHostMessage(event.data);
    if (message) receive(message);
  });
}
