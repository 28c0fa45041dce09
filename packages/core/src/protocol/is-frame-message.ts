import { PROTOCOL_SOURCE, type FrameMessage } from './messages.js';
import { isBoundedString } from './untrusted.js';

/**
 * Whether `data` is a valid message from the frame. False for other messages, for types unknown to
 * this version and for invalid fields. The caller must check the window and origin.
 */
export function isFrameMessage(data: unknown): data is FrameMessage {
  const message = Object(data);
  const shapes: Record<string, boolean> = {
    ready: Number.isFinite(message.version),
    loaded: isBoundedString(message.title ?? ''),
    resize: Number.isFinite(message.height),
    saved: isBoundedString(message.connector?.id) && isBoundedString(message.connector.name ?? ''),
    error: isBoundedString(message.message) && isBoundedString(message.code ?? ''),
    cancel: true,
    session_request: true,
    dirty: true,
    left: true,
  };
  return message.source === PROTOCOL_SOURCE && isBoundedString(message.type) && shapes[message.type] === true;
}
