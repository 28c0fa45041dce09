import {
  MESSAGE_SOURCE,
  PROTOCOL_VERSION,
  type Appearance,
  type HostMessage,
  type InitMessage,
  type SessionMessage,
} from './messages.js';
import { isTagged } from './parse-frame-message.js';
import { sanitizeOverrides } from './sanitize-overrides.js';
import { isFields, isText, ownFields, type Fields } from './untrusted.js';

/** An `init` of a version this package does not speak. The frame answers `error` with code `protocol_mismatch`. */
export interface UnsupportedInit {
  source: typeof MESSAGE_SOURCE;
  type: 'unsupported_init';
  version: number;
}

/** Ids and slugs. */
const MAX_ID = 256;
/** More style sheets than any form takes; how many and which ones it takes is the frame's own decision. */
const MAX_STYLESHEETS = 64;

const TOKENS = [
  'colorPrimary',
  'colorText',
  'colorBackground',
  'colorBorder',
  'fontFamily',
  'borderRadius',
] as const satisfies readonly (keyof Appearance)[];

/**
 * Reads what came from a host page. Returns a new message that holds only known, checked fields, or `undefined` for
 * noise, unknown types and malformed required fields. A malformed optional field is dropped, as if it had not been
 * given. The caller has checked window and origin before; here is decided that nothing inside can do harm:
 * own properties only, no `__proto__`, bounded lengths, depth and number of nodes. Whether an appearance value is a
 * color, a style sheet allowed or an override key known is for the frame to say.
 */
export function parseHostMessage(data: unknown): HostMessage | UnsupportedInit | undefined {
  if (!isTagged(data)) return undefined;
  const fields = ownFields(data);
  if (fields['type'] === 'init') return parseInit(fields);
  return fields['type'] === 'session' ? parseSession(fields) : undefined;
}

function parseSession({ sessionToken, expiresAt }: Fields): SessionMessage | undefined {
  if (!isText(sessionToken) || !sessionToken) return undefined;
  const message: SessionMessage = { source: MESSAGE_SOURCE, type: 'session', sessionToken };
  if (isText(expiresAt, MAX_ID)) message.expiresAt = expiresAt;
  return message;
}

function parseInit(data: Fields): InitMessage | UnsupportedInit | undefined {
  const { version, sessionToken, apiBase, organizationId, typeId, kind } = data;
  if (typeof version !== 'number') return undefined;
  if (version !== PROTOCOL_VERSION) return { source: MESSAGE_SOURCE, type: 'unsupported_init', version };
  if (!isText(sessionToken) || !sessionToken || !isText(apiBase) || !apiBase) return undefined;
  if (!isText(organizationId, MAX_ID) || !organizationId || !isText(typeId, MAX_ID) || !typeId) return undefined;
  if (kind !== 'input' && kind !== 'output') return undefined;

  const init: InitMessage = {
    source: MESSAGE_SOURCE,
    type: 'init',
    version,
    sessionToken,
    apiBase,
    organizationId,
    typeId,
    kind,
  };
  const { existingId, stylesheets } = data;
  if (isText(existingId, MAX_ID) && existingId) init.existingId = existingId;
  for (const key of ['displayName', 'name', 'description'] as const) {
    const value = data[key];
    if (isText(value)) init[key] = value;
  }
  for (const key of ['isNameEditable', 'isDescriptionEditable', 'synthetic'] as const) {
    const value = data[key];
    if (typeof value === 'boolean') init[key] = value;
  }
  const appearance = parseAppearance(data['appearance']);
  if (appearance) init.appearance = appearance;
  if (Array.isArray(stylesheets)) {
    init.stylesheets = stylesheets.slice(0, MAX_STYLESHEETS).filter((value) => isText(value));
  }
  const overrides = sanitizeOverrides(data['configMetaOverrides']);
  if (overrides) init.configMetaOverrides = overrides;
  return init;
}

function parseAppearance(value: unknown): Appearance | undefined {
  if (!isFields(value)) return undefined;
  const appearance: Appearance = {};
  const tokens = ownFields(value);
  for (const token of TOKENS) {
    const css = tokens[token];
    if (isText(css, MAX_ID)) appearance[token] = css;
  }
  return appearance;
}
