import { MESSAGE_SOURCE, type FrameMessage } from './messages.js';
import { isFields, isText, type Fields } from './untrusted.js';

/** Longest text of a frame message. A longer one is malformed: a message is a sentence, an id, a name. */
const MAX_TEXT = 2_000;

const isShort = (value: unknown): value is string => isText(value, MAX_TEXT);

/** Whether `data` carries the protocol's tag: ours, or made to look like it. */
export function isTagged(data: unknown): data is Fields {
  return isFields(data) && data['source'] === MESSAGE_SOURCE;
}

/**
 * Reads what came from a frame. Returns a new message that holds only known, checked fields, or `undefined` for
 * noise, unknown types and malformed fields. The caller has checked window and origin before.
 * An `error` without a code (a frame of an older service) reads as code `unknown`.
 */
export function parseFrameMessage(data: unknown): FrameMessage | undefined {
  if (!isTagged(data)) return undefined;
  const { type, version, height, connector, message, code = 'unknown' } = data;
  const source = MESSAGE_SOURCE;
  switch (type) {
    case 'ready':
      if (typeof version !== 'number') return undefined;
      return { source, type, version, reportsLoad: data['reportsLoad'] === true };
    case 'resize':
      return Number.isFinite(height) ? { source, type, height: Number(height) } : undefined;
    case 'saved': {
      if (!isFields(connector)) return undefined;
      const { id, name } = connector;
      if (!isShort(id) || !id) return undefined;
      if (name === undefined) return { source, type, connector: { id } };
      return isShort(name) ? { source, type, connector: { id, name } } : undefined;
    }
    case 'error':
      return isShort(message) && isShort(code) ? { source, type, message, code } : undefined;
    case 'loaded':
    case 'cancel':
    case 'session_request':
      return { source, type };
    default:
      return undefined;
  }
}
