import {
  PROTOCOL_SOURCE,
  PROTOCOL_VERSION,
  type CommandMessage,
  type HostMessage,
  type InitMessage,
  type InitOptions,
  type SessionMessage,
} from './messages.js';
import { formOptions, type Option, type OptionValue } from '../options/option-table.js';
import { sanitizeOverrides } from './sanitize-overrides.js';
import { fieldsOf, isBoundedString, pickStrings, type Fields } from './untrusted.js';

const TOKENS = ['colorPrimary', 'colorText', 'colorBackground', 'colorBorder', 'fontFamily', 'borderRadius'] as const;

type OptionName = keyof typeof formOptions;

// `Object.keys` returns `string[]`.
const isOptionName = (name: string): name is OptionName => name in formOptions;
const optionNames = Object.keys(formOptions).filter(isOptionName);

/** A bound on the work only; the form accepts fewer. */
const MAX_STYLESHEETS = 64;

/** Options with an object as their value need code of their own to be copied safely. */
type ObjectOption = {
  [Name in keyof typeof formOptions]: OptionValue<(typeof formOptions)[Name]> extends object ? Name : never;
}[keyof typeof formOptions];

const parsers: { [Name in ObjectOption]: (value: unknown) => OptionValue<(typeof formOptions)[Name]> | undefined } = {
  appearance(value) {
    const tokens = fieldsOf(value);
    return tokens && pickStrings(tokens, TOKENS);
  },
  stylesheets: (value) => (Array.isArray(value) ? value.slice(0, MAX_STYLESHEETS).filter(isBoundedString) : undefined),
  configMetaOverrides: sanitizeOverrides,
};

/**
 * Parses a message from the host page. The caller must have checked the window and origin.
 *
 * Returns a new message with known, validated fields only: own properties, no `__proto__`, bounded
 * lengths, depth and number of nodes. An invalid optional field is dropped. The form validates
 * what the fields mean: colors, style sheet URLs and override keys.
 *
 * @returns `undefined` for other messages, unknown types, another protocol version, and invalid
 *   required fields
 */
export function parseHostMessage(data: unknown): HostMessage | undefined {
  const fields = fieldsOf(data);
  if (fields?.['source'] !== PROTOCOL_SOURCE) return undefined;
  switch (fields['type']) {
    case 'init':
      return parseInit(fields);
    case 'session':
      return parseSession(fields);
    case 'command':
      return parseCommand(fields);
    case 'leave':
      return { source: PROTOCOL_SOURCE, type: 'leave' };
    default:
      return undefined;
  }
}

function parseCommand({ command }: Fields): CommandMessage | undefined {
  return command === 'save' || command === 'test' || command === 'cancel'
    ? { source: PROTOCOL_SOURCE, type: 'command', command }
    : undefined;
}

function parseSession(fields: Fields): SessionMessage | undefined {
  const { sessionToken, expiresAt } = pickStrings(fields, ['sessionToken', 'expiresAt']);
  if (!sessionToken) return undefined;
  const message: SessionMessage = { source: PROTOCOL_SOURCE, type: 'session', sessionToken };
  if (expiresAt) message.expiresAt = expiresAt;
  return message;
}

function parseInit(fields: Fields): InitMessage | undefined {
  const { version, existingId = null } = fields;
  if (version !== PROTOCOL_VERSION) return undefined;
  // An edit with an invalid ID must not create a new connector.
  if (existingId !== null && !isBoundedString(existingId)) return undefined;
  const options: Record<string, unknown> = {};
  for (const name of optionNames) {
    const value = parseOption(name, fields[name]);
    if (value !== undefined) options[name] = value;
  }
  if (options['existingId'] === '') delete options['existingId'];
  return hasRequired(options) ? { source: PROTOCOL_SOURCE, type: 'init', version, ...options } : undefined;
}

function parseOption(name: OptionName, value: unknown): unknown {
  if (isObjectOption(name)) return parsers[name](value);
  const { type, values }: Option<unknown> = formOptions[name];
  const isValid = type === 'string' ? isBoundedString(value) : typeof value === type;
  return isValid && (!values || values.includes(value)) ? value : undefined;
}

const isObjectOption = (name: OptionName): name is ObjectOption => Object.hasOwn(parsers, name);

/** Whether an option has a value, and not an empty string, for each required one. */
function hasRequired(options: Record<string, unknown>): options is Record<string, unknown> & InitOptions {
  return optionNames.every((name) => options[name] || !('required' in formOptions[name]));
}
