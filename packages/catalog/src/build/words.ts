/**
 * Keys of the data format and the values each takes. A rule returns what it expected, or undefined
 * if the value is valid.
 */
import { CONNECTOR_KINDS } from '../connector-kinds.js';
import { INPUT_CATEGORIES, OUTPUT_CATEGORIES } from './categories.js';
import { isPlain, own } from '../validate/objects.js';
import { oneOf } from './problem.js';

export type Rule = (value: unknown) => string | undefined;
export type Words = Readonly<Record<string, Rule>>;

export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const text: Rule = (value) => (isText(value) ? undefined : 'a text');
const anyText: Rule = (value) => (typeof value === 'string' ? undefined : 'a text');
const amount: Rule = (value) => (typeof value === 'number' ? undefined : 'a number');
const count: Rule = (value) =>
  Number.isInteger(value) && Number(value) >= 0 ? undefined : 'a whole number, not negative';
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const yes: Rule = (value) => (value === true ? undefined : 'true, or absent');
const no: Rule = (value) => (value === false ? undefined : 'false');
const anything: Rule = () => undefined;
const word =
  (...values: string[]): Rule =>
  (value) =>
    typeof value === 'string' && values.includes(value) ? undefined : oneOf(values);
const shaped =
  (pattern: RegExp, expected: string): Rule =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : expected;

export const listOfText: Rule = (value) =>
  Array.isArray(value) && value.length > 0 && value.every(isText) ? undefined : 'a list of texts';

const mapOfText: Rule = (value) =>
  isPlain(value) && Object.values(value).every(isText) ? undefined : 'an object of texts';

const clause: Rule = (value) => {
  const values = own(value, 'in');
  const good =
    isText(own(value, 'path')) &&
    Array.isArray(values) &&
    values.length > 0 &&
    values.every((item) => ['string', 'number', 'boolean'].includes(typeof item));
  return good ? undefined : '{ "path": "/settings/...", "in": [values] }';
};

const condition: Rule = (value) => {
  const { required, and, ...rest } = isPlain(value) ? value : {};
  if (Object.keys(rest).some((key) => key !== 'path' && key !== 'in'))
    return 'made of "path", "in", "and" and "required"';
  if (required !== undefined && required !== true) return 'with "required": true, or without it';
  if (and !== undefined && !(Array.isArray(and) && and.every((item) => clause(item) === undefined)))
    return 'with "and" a list of { "path", "in" }';
  return clause(value);
};

const annotations: Words = {
  title: text,
  description: text,
  deprecated: yes,
  'x-advanced': yes,
  'x-destination': yes,
  'x-transport': yes,
  'x-when': condition,
};

const FORMATS = ['uri', 'hostname', 'host-port', 'email', 'date-time', 'cron', 'multiline', 'json', 'pem'];

/** Keys of each kind of field schema, of a variant, and of `settings` and `secrets`. */
export const FIELD_WORDS = {
  text: {
    ...annotations,
    type: word('string'),
    examples: listOfText,
    format: word(...FORMATS),
    minLength: count,
    maxLength: count,
    pattern: text,
    'x-message': text,
    enum: listOfText,
    'x-labels': mapOfText,
    default: anyText,
    writeOnly: yes,
    'x-local': yes,
    'x-private-key': word('plain', 'encrypted'),
    'x-output': text,
  },
  number: {
    ...annotations,
    type: word('integer', 'number'),
    minimum: amount,
    maximum: amount,
    default: amount,
    'x-unit': text,
  },
  boolean: { ...annotations, type: word('boolean'), default: flag, 'x-role': word('synthetic-toggle') },
  list: { ...annotations, type: word('array'), items: anything, minItems: count, maxItems: count, uniqueItems: flag },
  group: { ...annotations, type: word('object'), properties: anything, required: listOfText, additionalProperties: no },
  map: {
    ...annotations,
    type: word('object'),
    additionalProperties: anything,
    maxProperties: count,
    writeOnly: yes,
  },
  union: { ...annotations, type: word('object'), oneOf: anything, default: text },
  variant: { title: text, description: text, properties: anything, required: listOfText, additionalProperties: no },
  section: {
    $schema: text,
    type: word('object'),
    properties: anything,
    required: listOfText,
    additionalProperties: no,
  },
} satisfies Record<string, Words>;

const reason = word('agent', 'proprietary', 'withdrawn');

/** What people type: `office 365`, `c2c`, `pub/sub`. */
const ALIAS = /^[a-z0-9](?:[a-z0-9 .+/&'-]{0,38}[a-z0-9+])?$/;

export const aliasList: Rule = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((alias) => typeof alias === 'string' && ALIAS.test(alias))
    ? undefined
    : 'a list of names in lower case, like "azure ad"';

/** Keys of a type file. */
export const TYPE_WORDS: Words = {
  $schema: text,
  type_id: shaped(/^[a-z0-9][a-z0-9-]{0,63}$/, 'lower-case letters, digits and "-", at most 64'),
  kind: word(...CONNECTOR_KINDS),
  name: text,
  description: text,
  aliases: aliasList,
  unavailable: (value) =>
    isPlain(value) && Object.keys(value).join() === 'reason' && reason(value['reason']) === undefined
      ? undefined
      : '{ "reason": "agent", "proprietary" or "withdrawn" }',
  category: word(...new Set([...INPUT_CATEGORIES, ...OUTPUT_CATEGORIES])),
  vendor: text,
  in_beta: yes,
  version: shaped(/^\d+\.\d+\.\d+$/, 'a version like "1.0.0"'),
  evidence: word(
    'openapi',
    'docs',
    'connector-spec',
    'connector-manifest',
    'component-reference',
    'package-manifest',
    'adapter-config-struct',
    'vendor-api-convention',
    'recall-unverified',
    'own',
  ),
  fixed_destination: shaped(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/, 'a host name, like "api.github.com"'),
  icon: text,
  order: listOfText,
  config: (value) => (isPlain(value) ? undefined : 'an object with "settings" and "secrets"'),
  // Checked by `pollShape`, which reports where in the definition a problem is.
  poll: anything,
  // Checked by `setupShape`.
  setup: anything,
  // Checked by `oauthShape`.
  oauth: anything,
  // Checked by `awsObjectsShape`.
  aws_objects: anything,
  // Checked by `deliveryShape`.
  delivery: anything,
  // Checked by `receiveShape`.
  receive: anything,
};
