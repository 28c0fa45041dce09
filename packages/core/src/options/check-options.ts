import { ConnectorFrameError } from '../connector-frame-error.js';
import { attempt, frameUrl } from '../frame-url.js';
import type { ConnectorFrameOptions } from './connector-frame-options.js';
import { attributeOf, callbackOptions, formOptions, frameOptions, type OptionTable } from './option-table.js';

type Values = { -readonly [K in keyof ConnectorFrameOptions]?: ConnectorFrameOptions[K] } & Record<string, unknown>;

/** Options of an unchecked caller, for example of a page without TypeScript. */
export type UncheckedOptions = Readonly<Values>;

/** Checked options, and what was derived from them. */
export type CheckedOptions = [parent: HTMLElement, url: URL, loadTimeout: number, form: object];

// Checked in this order.
const table: OptionTable = { ...formOptions, ...frameOptions, ...callbackOptions };

/**
 * Checks options against the table, and finds the container.
 *
 * @throws {ConnectorFrameError} `invalid_options`: names the option, its value, and what is
 *   expected
 */
export function checkOptions(given: UncheckedOptions): CheckedOptions {
  const reject = (name: string, expected: string): never => {
    throw new ConnectorFrameError('invalid_options', name + ': "' + given[name] + '" is not ' + expected);
  };
  const { container, fetchSession, sessionToken } = given;
  const checked: Values = {};
  for (const [name, { type, required, session, values, initial }] of Object.entries(table)) {
    const value = given[name] ?? initial;
    // `fetchSession` provides the session. But a token that is given needs its organization.
    const isOptional = session ? fetchSession && !sessionToken : !required;
    if (!(value || isOptional)) reject(name, 'set: use the option or the attribute ' + attributeOf(name));
    if (value !== undefined && typeof value !== type) reject(name, 'a ' + type);
    if (values && !values.includes(value)) reject(name, values.join(' or '));
    checked[name] = value;
  }
  // Functions are not sent either: JSON has none.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table requires or sets both
  const { frameOrigin, loadTimeout, ...form } = checked as Values & { frameOrigin: string; loadTimeout: number };
  // Longer timers fire at once.
  if (!(loadTimeout > 0 && loadTimeout < 2e9)) reject('loadTimeout', 'a time');
  const url = frameUrl(frameOrigin) ?? reject('frameOrigin', 'another https origin');
  const parent =
    typeof container === 'string' ? attempt(() => document.querySelector<HTMLElement>(container)) : container;
  return [parent?.style ? parent : reject('container', 'an element'), url, loadTimeout, form];
}
