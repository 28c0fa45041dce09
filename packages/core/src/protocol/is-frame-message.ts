import { MESSAGE_SOURCE, type FrameMessage } from './messages.js';

/** Its texts are sentences, ids and names: a longer one is malformed. */
const isText = (value: unknown) => typeof value === 'string' && value.length < 2e3;

/**
 * Whether `data` is a message that a frame may send, every field of it checked. False for noise, for types this version
 * does not know and for malformed fields. The caller has checked window and origin before.
 */
export function isFrameMessage(data: unknown): data is FrameMessage {
  const message = Object(data);
  const { id, name = '' } = Object(message.connector);
  const { title = '' } = message;
  const shapes: Record<string, boolean> = {
    ready: Number.isFinite(message.version),
    loaded: isText(title),
    resize: Number.isFinite(message.height),
    saved: isText(id) && isText(name),
    error: isText(message.message) && isText(message.code),
    cancel: true,
    session_request: true,
    left: true,
  };
  return message.source === MESSAGE_SOURCE && isText(message.type) && shapes[message.type] === true;
}
