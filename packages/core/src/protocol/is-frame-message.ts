import { MESSAGE_SOURCE, type FrameMessage } from './messages.js';

/** Sentences, IDs and names: a longer string is invalid. */
const isShortString = (value: unknown) => typeof value === 'string' && value.length < 2e3;

/**
 * Whether `data` is a valid message from the frame. False for other messages, for types unknown to
 * this version and for invalid fields. The caller must check the window and origin.
 */
export function isFrameMessage(data: unknown): data is FrameMessage {
  const message = Object(data);
  const { id, name = '' } = Object(message.connector);
  const { title = '' } = message;
  const shapes: Record<string, boolean> = {
    ready: Number.isFinite(message.version),
    loaded: isShortString(title),
    resize: Number.isFinite(message.height),
    saved: isShortString(id) && isShortString(name),
    error: isShortString(message.message) && isShortString(message.code),
    cancel: true,
    session_request: true,
    dirty: true,
    left: true,
  };
  return message.source === MESSAGE_SOURCE && isShortString(message.type) && shapes[message.type] === true;
}
