import {
  MESSAGE_SOURCE,
  PROTOCOL_VERSION,
  type CommandMessage,
  type HostMessage,
  type InitMessage,
  type SessionMessage,
} from './messages.js';
import { sanitizeOverrides } from './sanitize-overrides.js';
import { fieldsOf, isText, texts, type Fields } from './untrusted.js';

const REQUIRED = ['sessionToken', 'apiBase', 'organizationId', 'typeId'] as const;
const TEXTS = ['displayName', 'name', 'description'] as const;
const FLAGS = ['isNameEditable', 'isDescriptionEditable', 'synthetic'] as const;
const TOKENS = ['colorPrimary', 'colorText', 'colorBackground', 'colorBorder', 'fontFamily', 'borderRadius'] as const;

/** More than any form takes; which ones it takes is its own decision. */
const MAX_STYLESHEETS = 64;

/**
 * Reads what came from a host page. Returns a new message that holds only known, checked fields, or `undefined` for
 * noise, unknown types, another version and malformed required fields. A malformed optional field is dropped, as if it
 * had not been given. The caller has checked window and origin before; here is decided that nothing inside can do harm:
 * own fields only, no `__proto__`, bounded lengths, depth and number of nodes. Whether an appearance value is a color, a
 * style sheet allowed or an override key known is for the form to say.
 */
export function parseHostMessage(data: unknown): HostMessage | undefined {
  const fields = fieldsOf(data);
  if (fields?.['source'] !== MESSAGE_SOURCE) return undefined;
  switch (fields['type']) {
    case 'init':
      return parseInit(fields);
    case 'session':
      return parseSession(fields);
    case 'command':
      return parseCommand(fields);
    case 'leave':
      return { source: MESSAGE_SOURCE, type: 'leave' };
    default:
      return undefined;
  }
}

function parseCommand({ command }: Fields): CommandMessage | undefined {
  return command === 'save' || command === 'test' || command === 'cancel'
    ? { source: MESSAGE_SOURCE, type: 'command', command }
    : undefined;
}

function parseSession(fields: Fields): SessionMessage | undefined {
  const { sessionToken, expiresAt } = texts(fields, ['sessionToken', 'expiresAt']);
  if (!sessionToken) return undefined;
  const message: SessionMessage = { source: MESSAGE_SOURCE, type: 'session', sessionToken };
  if (expiresAt) message.expiresAt = expiresAt;
  return message;
}

function parseInit(fields: Fields): InitMessage | undefined {
  const { sessionToken, apiBase, organizationId, typeId } = texts(fields, REQUIRED);
  const { version, kind, existingId = null, appearance, stylesheets } = fields;
  if (version !== PROTOCOL_VERSION || (kind !== 'input' && kind !== 'output')) return undefined;
  if (!sessionToken || !apiBase || !organizationId || !typeId) return undefined;
  // Dropped, it would make an edit a new connector.
  if (existingId !== null && !isText(existingId)) return undefined;
  const source = MESSAGE_SOURCE;
  const init: InitMessage = { source, type: 'init', version, sessionToken, apiBase, organizationId, typeId, kind };
  if (existingId) init.existingId = existingId;
  Object.assign(init, texts(fields, TEXTS));
  for (const key of FLAGS) {
    const value = fields[key];
    if (typeof value === 'boolean') init[key] = value;
  }
  const tokens = fieldsOf(appearance);
  if (tokens) init.appearance = texts(tokens, TOKENS);
  if (Array.isArray(stylesheets)) init.stylesheets = stylesheets.slice(0, MAX_STYLESHEETS).filter(isText);
  const overrides = sanitizeOverrides(fields['configMetaOverrides']);
  if (overrides) init.configMetaOverrides = overrides;
  return init;
}
