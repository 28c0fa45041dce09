import { parseKeyPath } from '../connector-api/key-path.js';
import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import { shown, type Problems } from '../problem.js';

interface Common {
  readonly description: string;
  readonly required?: true;
}

/** Specification of one argument: from it, an operation validates, types and describes it. */
export type Argument = Common &
  (
    | { readonly kind: 'key' }
    | {
        readonly kind: 'text';
        readonly default?: string;
        readonly minLength?: number;
        /** Length in characters. Default 1,000. */
        readonly maxLength?: number;
      }
    | { readonly kind: 'number' }
    /** Any JSON value. */
    | { readonly kind: 'value' }
    | { readonly kind: 'boolean'; readonly default?: boolean }
    /** One of several words, in any case. */
    | { readonly kind: 'word'; readonly words: readonly string[]; readonly default?: string }
    | { readonly kind: 'texts' }
    | { readonly kind: 'map' }
    | { readonly kind: 'object'; readonly properties: Arguments }
  );

export type Arguments = Readonly<Record<string, Argument>>;

type Read<A extends Argument> = A extends { kind: 'boolean' }
  ? boolean
  : A extends { kind: 'number' }
    ? number
    : A extends { kind: 'value' }
      ? JsonValue
      : A extends { kind: 'word'; words: readonly (infer Word)[] }
        ? Word
        : A extends { kind: 'texts' }
          ? readonly string[]
          : A extends { kind: 'map' }
            ? Readonly<Record<string, string>>
            : A extends { kind: 'object'; properties: infer P extends Arguments }
              ? ValuesOf<P>
              : string;

/** The values of arguments, with their defaults. */
export type ValuesOf<S extends Arguments> = {
  readonly [Name in keyof S]: S[Name] extends { required: true } | { default: unknown }
    ? Read<S[Name]>
    : Read<S[Name]> | undefined;
};

const MAX_VALUE_LENGTH = 16 * 1024;
const MAX_ITEMS = 500;
const MAX_ITEM_LENGTH = 1_000;

/**
 * Reads the arguments of an operation. If no problem is added, the result has their values.
 * @param owner name of the operation or argument, for messages
 */
export function readArguments<S extends Arguments>(
  specs: S,
  given: DataRecord,
  problems: Problems,
  owner: string,
): ValuesOf<S> {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(specs, name))
      problems.at(name).add('unknown', `${owner} has ${Object.keys(specs).join(', ') || 'no arguments'}.`);
  const values = Object.entries(specs).map(([name, spec]): [string, unknown] => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return [name, isAbsent(spec, value) ? absent(spec, problems.at(name)) : read(spec, value, problems.at(name), name)];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `read` returns the type of each specification
  return Object.fromEntries(values) as ValuesOf<S>;
}

/** Clients send empty strings for settings that the user left out. */
function isAbsent(spec: Argument, value: unknown): boolean {
  if (value === undefined) return true;
  if (spec.kind === 'value') return false;
  return value === null || (value === '' && (spec.kind === 'key' || spec.kind === 'word') && !spec.required);
}

function absent(spec: Argument, problems: Problems): unknown {
  if (spec.required) problems.add('required', `It is required: ${spec.description}`);
  return 'default' in spec ? spec.default : undefined;
}

function read(spec: Argument, value: unknown, problems: Problems, name: string): unknown {
  switch (spec.kind) {
    case 'key':
      if (isKey(value)) return value;
      return problems.add('required', `It names a place in the record, like actor.email, not ${shown(value)}.`);
    case 'text': {
      const { minLength = 0, maxLength = MAX_ITEM_LENGTH } = spec;
      if (typeof value === 'string' && value.length >= minLength && value.length <= maxLength) return value;
      return problems.add('type', `It is a string of ${minLength} to ${maxLength} characters, not ${shown(value)}.`);
    }
    case 'number':
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      return problems.add('type', `It is a number, not ${shown(value)}.`);
    case 'value':
      if (JSON.stringify(value).length <= MAX_VALUE_LENGTH) return value;
      return problems.add('too_long', `A value has at most ${MAX_VALUE_LENGTH} characters as JSON.`);
    case 'boolean':
      return typeof value === 'boolean' ? value : problems.add('type', 'It is true or false.');
    case 'word': {
      const word = spec.words.find((one) => typeof value === 'string' && one === value.toLowerCase());
      return word ?? problems.add('unknown', `It is one of ${spec.words.join(', ')}, not ${shown(value)}.`);
    }
    case 'texts':
      if (Array.isArray(value) && value.length <= MAX_ITEMS && value.every(isItem)) return value;
      return problems.add('type', `It is a list of at most ${MAX_ITEMS} strings, not ${shown(value)}.`);
    case 'map':
      if (isRecord(value) && Object.entries(value).length <= MAX_ITEMS && Object.entries(value).flat().every(isItem))
        return value;
      return problems.add('type', `It is an object with at most ${MAX_ITEMS} strings, not ${shown(value)}.`);
    case 'object':
      if (isRecord(value)) return readArguments(spec.properties, value, problems, name);
      return problems.add('type', `It is an object, not ${shown(value)}.`);
    default:
      return undefined;
  }
}

const isItem = (value: unknown): boolean => typeof value === 'string' && value.length <= MAX_ITEM_LENGTH;

const isKey = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 1_000 && parseKeyPath(value) !== undefined;

/** Returns the JSON Schema of arguments. */
export function argumentsSchema(specs: Arguments): Record<string, unknown> {
  const required = Object.entries(specs).flatMap(([name, spec]) => (spec.required ? [name] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, argumentSchema(spec)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function argumentSchema(spec: Argument): Record<string, unknown> {
  const { description } = spec;
  const common = { description, ...('default' in spec && { default: spec.default }) };
  switch (spec.kind) {
    case 'key':
      return {
        type: 'string',
        format: 'key-path',
        maxLength: 1_000,
        ...(spec.required && { minLength: 1 }),
        ...common,
      };
    case 'text': {
      const { minLength, maxLength = MAX_ITEM_LENGTH } = spec;
      return { type: 'string', ...(minLength !== undefined && { minLength }), maxLength, ...common };
    }
    case 'value':
      return common;
    case 'word':
      return { type: 'string', enum: spec.words, ...common };
    case 'texts':
      return { type: 'array', items: { type: 'string' }, maxItems: MAX_ITEMS, ...common };
    case 'map':
      return { type: 'object', additionalProperties: { type: 'string' }, maxProperties: MAX_ITEMS, ...common };
    case 'object':
      return { ...argumentsSchema(spec.properties), ...common };
    default:
      return { type: spec.kind, ...common };
  }
}
