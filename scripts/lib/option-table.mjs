import { readFileSync } from 'node:fs';
import { root } from './root.mjs';

const core = `${root}packages/core/src/options/option-table.ts`;
const element = `${root}packages/element/src/element-options.ts`;

/**
 * An option, as its table describes it.
 *
 * @typedef {{ name: string, attribute: string | undefined, type: string, required: boolean,
 *   initial: string | undefined, default: string, description: string }} Option
 */

/**
 * Reads the tables of options from the sources: types and doc comments don't exist at run time.
 *
 * @returns {Record<'formOptions' | 'frameOptions' | 'callbackOptions' | 'elementOptions', Option[]>}
 */
export function readOptions() {
  const code = readFileSync(core, 'utf8');
  const own = readFileSync(element, 'utf8');
  const constants = new Map([...constantsOf(code), ...constantsOf(own)]);
  const read = (text, table) => entriesOf(text, table).map((entry) => describe(entry, constants));
  const formOptions = read(code, 'formOptions');
  const frameOptions = read(code, 'frameOptions');
  return {
    formOptions,
    frameOptions,
    callbackOptions: read(code, 'callbackOptions'),
    elementOptions: [...formOptions, ...frameOptions, ...read(own, 'elementOptions')],
  };
}

/** Constants that entries refer to, by name: `text` -> `Option<string> = { type: 'string' }`. */
const constantsOf = (code) =>
  [...code.matchAll(/^(?:export )?const (\w+): (.+?);$/gms)].map(([, name, value]) => [name, value]);

/** Entries of a table with their doc comments. */
function entriesOf(code, table) {
  const start = code.indexOf(`export const ${table} = {\n`);
  const end = code.indexOf('\n} satisfies OptionTable;', start);
  if (start === -1 || end === -1) throw new Error(`No table ${table} in the sources of the options.`);
  const body = code.slice(code.indexOf('\n', start), end).replaceAll(/^ {2}\.\.\.\w+,$/gm, '');
  const entry = /^ {2}\/\*\*(?<comment>.*?)\*\/\n {2}(?<name>\w+): (?<value>.+?),$/gms;
  const rest = body.replaceAll(entry, '').trim();
  if (rest) throw new Error(`Not an option with a doc comment in ${table}: ${rest}`);
  return [...body.matchAll(entry)].map(({ groups }) => groups);
}

function describe({ comment, name, value }, constants) {
  const [description, byDefault = ''] = comment
    .replaceAll(/^\s*\* ?/gm, '')
    .split('@defaultValue')
    .map((part) => part.trim().replaceAll(/\s+/g, ' '));
  // What the entry says, and the constant that it names.
  const code = `${value} ${constants.get(/^\w+$/.exec(value)?.[0] ?? /\.\.\.(\w+)/.exec(value)?.[1]) ?? ''}`;
  const values = constants.get(/values: (\w+)/.exec(code)?.[1]);
  const named = /Option<(.+)>/.exec(code.split(' & ')[0])?.[1];
  const type = values
    ? [...values.matchAll(/'(\w+)'/g)].map(([word]) => word).join(' | ')
    : (named ?? /type: '(\w+)'/.exec(code)?.[1]);
  if (!type) throw new Error(`The option ${name} has no type.`);
  const isFunction = type.includes('=>') || type === 'FetchSession' || type === 'ErrorHandler';
  return {
    name,
    attribute: isFunction ? undefined : name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    type,
    required: /required: true/.test(code),
    default: byDefault,
    description,
  };
}

const cell = (text) => text.replaceAll('|', '\\|');
const row = (...cells) => `| ${cells.map(cell).join(' | ')} |`;
const signatures = {
  FetchSession: '() => Promise<{ sessionToken, organizationId?, expiresAt? }>',
  ErrorHandler: '(message, error) => void',
};
const typeOf = ({ type }) => `\`${signatures[type] ?? type.replaceAll('connector: SavedConnector', '{ id, name? }')}\``;
const defaultOf = (option) => option.default || (option.required ? 'required' : '');

/** The options of `createConnectorFrame`, as a Markdown table. */
export function coreTable() {
  const { formOptions, frameOptions, callbackOptions } = readOptions();
  const container = row(
    '`container`',
    '`HTMLElement \\| string`'.replace('\\|', '|'),
    'required',
    'The element to which the frame is appended, or a CSS selector of it.',
  );
  const lines = [...formOptions, ...frameOptions, ...callbackOptions].map((option) =>
    row(`\`${option.name}\``, typeOf(option), defaultOf(option), option.description),
  );
  return [row('Option', 'Type', 'Default', 'Description'), row('---', '---', '---', '---'), container, ...lines].join(
    '\n',
  );
}

/** The attributes and properties of `<connector-frame>`, as a Markdown table. */
export function elementTable() {
  const lines = readOptions().elementOptions.map((option) =>
    row(
      option.attribute ? `\`${option.attribute}\`` : '',
      `\`${option.name}\``,
      typeOf(option),
      option.default,
      option.description,
    ),
  );
  return [
    row('Attribute', 'Property', 'Type', 'Default', 'Description'),
    row('---', '---', '---', '---', '---'),
    ...lines,
  ].join('\n');
}

/** The READMEs with a table between `<!-- options -->` and `<!-- /options -->`, and its content. */
export const pages = [
  { page: `${root}packages/core/README.md`, table: coreTable },
  { page: `${root}packages/element/README.md`, table: elementTable },
];

/** Returns a page with an up-to-date table. */
export function withTable(text, table) {
  const [before, rest] = text.split('<!-- options -->');
  const after = rest?.split('<!-- /options -->')[1];
  if (after === undefined) throw new Error('The page has no <!-- options --> and <!-- /options -->.');
  return `${before}<!-- options -->\n<!-- prettier-ignore-start -->\n\n${table}\n\n<!-- prettier-ignore-end -->\n<!-- /options -->${after}`;
}
