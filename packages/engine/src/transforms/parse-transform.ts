import { parseKeyPath } from '../connector-api/key-path.js';
import { Problems, shown, type Problem } from '../problem.js';
import { isRecord, type DataRecord } from '../connector-api/record.js';
import { ConnectorError } from '../connector-api/connector-error.js';
import { checkProgram } from './jq/check-program.js';
import { MUTATED_TYPES, OPERATION_ALIASES, TIMESTAMP_FORMATS } from './operation.js';
import type { Operation, OperationName, TransformConfig } from './operation.js';

const MAX_OPERATIONS = 20;
const MAX_DESCRIPTION = 2_000;
const MAX_VALUE_LENGTH = 16 * 1024;
const MAX_QUERY_BYTES = 16 * 1024;

/**
 * Parses an untrusted transform and returns it with canonical names and defaults, or returns its
 * problems. Compiles jq programs to validate them.
 * @throws {ConnectorError} `jq`, of kind `retry`: the transform contains jq programs and jq can't be
 *   started
 *
 * @example
 * ```ts
 * const parsed = await parseTransform({
 *   operations: [{ operation: 'drop_key', arguments: { key: 'actor.email' } }],
 * });
 * ```
 */
export async function parseTransform(
  value: unknown,
): Promise<{ ok: true; transform: TransformConfig } | { ok: false; problems: readonly Problem[] }> {
  const problems = new Problems();
  const operations = parseOperations(value, problems);
  for (const [index, each] of operations.entries()) {
    if (each?.operation !== 'jq') continue;
    const problem = await problemOf(each.arguments.query, each.arguments.key);
    const place = problems.at('operations', index, 'arguments', 'query');
    if (problem !== undefined) place.add('invalid', `The program does not compile. ${problem}`);
  }
  if (problems.list.length > 0) return { ok: false, problems: problems.list };
  return { ok: true, transform: { operations: operations.filter((each) => each !== undefined) } };
}

/**
 * Returns a transform that was valid when it was stored, with canonical names and defaults. Does not
 * compile jq programs.
 * @throws {ConnectorError} `invalid_pipeline`: a later release stored it
 */
export function readTransform(stored: unknown): TransformConfig {
  const problems = new Problems();
  const operations = parseOperations(stored, problems);
  if (problems.list.length === 0) return { operations: operations.filter((each) => each !== undefined) };
  const message = 'This release does not know an operation of this transform. Save it again.';
  throw new ConnectorError('invalid_pipeline', message, 'permanent');
}

/** Returns an operation, or `undefined` for one with problems, in the order of the list. */
function parseOperations(value: unknown, problems: Problems): Parsed[] {
  const list = problems.at('operations');
  if (!isRecord(value) || !Array.isArray(value['operations'])) {
    list.add('required', 'A transform has a list of operations.');
    return [];
  }
  for (const name of Object.keys(value))
    if (name !== 'operations') problems.at(name).add('unknown', 'A transform has only operations.');
  const given: readonly unknown[] = value['operations'];
  if (given.length > MAX_OPERATIONS) {
    list.add('too_many', `A transform has at most ${MAX_OPERATIONS} operations.`);
    return [];
  }
  return given.map((each, index) => parseOperation(each, list.at(index)));
}

function parseOperation(value: unknown, problems: Problems): Parsed {
  if (!isRecord(value)) {
    problems.add('type', `An operation is an object, not ${shown(value)}.`);
    return undefined;
  }
  const { operation, arguments: given = {}, description, ...others } = value;
  for (const field of Object.keys(others))
    problems.at(field).add('unknown', 'An operation has operation, arguments and description.');
  if (description !== undefined && (typeof description !== 'string' || description.length > MAX_DESCRIPTION))
    problems.at('description').add('type', `A description is a text of at most ${MAX_DESCRIPTION} characters.`);
  const name = nameOf(operation);
  const place = problems.at('operation');
  if (!name) place.add('unknown', `${shown(operation)} is no operation. Known: ${Object.keys(parsers).join(', ')}.`);
  else if (!isRecord(given)) problems.at('arguments').add('type', `Arguments are an object, not ${shown(given)}.`);
  else {
    for (const argument of Object.keys(given))
      if (!ARGUMENTS[name].includes(argument))
        problems.at('arguments', argument).add('unknown', `${name} has ${ARGUMENTS[name].join(', ')}.`);
    return parsers[name](given, problems.at('arguments'));
  }
  return undefined;
}

/** Names of the arguments. */
const ARGUMENTS: Record<OperationName, readonly string[]> = {
  rename_key: ['key', 'new_key'],
  drop_key: ['key'],
  add: ['key', 'value'],
  flatten: ['key', 'base', 'delimiter'],
  mutate_type: ['key', 'type'],
  timestamp: ['key', 'format'],
  jq: ['query', 'key', 'prevent_data_dropping'],
};

type Parsed = Operation | undefined;
type Parser = (given: DataRecord, problems: Problems) => Parsed;

const parsers: Record<OperationName, Parser> = {
  rename_key: (given, problems) => {
    const key = keyPath(given, 'key', problems);
    const newKey = keyPath(given, 'new_key', problems);
    if (key === undefined || newKey === undefined) return undefined;
    return { operation: 'rename_key', arguments: { key, new_key: newKey } };
  },
  drop_key: (given, problems) => {
    const key = keyPath(given, 'key', problems);
    return key === undefined ? undefined : { operation: 'drop_key', arguments: { key } };
  },
  add: (given, problems) => {
    const key = keyPath(given, 'key', problems);
    const { value } = given;
    if (value === undefined) problems.at('value').add('required', 'It needs the value to add; null is one.');
    else if (JSON.stringify(value).length > MAX_VALUE_LENGTH)
      problems.at('value').add('too_long', `A value to add has at most ${MAX_VALUE_LENGTH} characters as JSON.`);
    else if (key !== undefined) return { operation: 'add', arguments: { key, value } };
    return undefined;
  },
  flatten: (given, problems) => {
    const { base, delimiter = '_' } = given;
    const whole = given['key'] === undefined || given['key'] === '';
    const key = whole ? undefined : keyPath(given, 'key', problems);
    if (typeof delimiter !== 'string' || delimiter.length > 10)
      problems.at('delimiter').add('type', `A delimiter is a text of at most 10 characters, not ${shown(delimiter)}.`);
    else if (base !== undefined && (typeof base !== 'string' || base === '' || base.length > 1000))
      problems.at('base').add('type', `It is what the new keys begin with, not ${shown(base)}.`);
    else if (whole) return { operation: 'flatten', arguments: { delimiter } };
    else if (key !== undefined)
      return { operation: 'flatten', arguments: { key, ...(base !== undefined && { base }), delimiter } };
    return undefined;
  },
  mutate_type: (given, problems) => {
    const key = keyPath(given, 'key', problems);
    const type = word(given, 'type', MUTATED_TYPES, problems);
    return key === undefined || type === undefined ? undefined : { operation: 'mutate_type', arguments: { key, type } };
  },
  timestamp: (given, problems) => {
    const key = keyPath(given, 'key', problems);
    const format = given['format'] === undefined ? 'rfc3339' : word(given, 'format', TIMESTAMP_FORMATS, problems);
    if (key === undefined || format === undefined) return undefined;
    return { operation: 'timestamp', arguments: { key, format } };
  },
  jq: (given, problems) => {
    const { query, prevent_data_dropping: keeps = false } = given;
    const place = problems.at('query');
    const whole = given['key'] === undefined || given['key'] === '';
    const key = whole ? undefined : keyPath(given, 'key', problems);
    if (typeof keeps !== 'boolean') problems.at('prevent_data_dropping').add('type', 'It is true or false.');
    else if (typeof query !== 'string' || query.trim() === '')
      place.add('required', `It is a jq program, like {user: .actor.email}, not ${shown(query)}.`);
    else if (Buffer.byteLength(query) > MAX_QUERY_BYTES)
      place.add('too_long', `A jq program has at most ${MAX_QUERY_BYTES} bytes.`);
    else if (query.includes('\0')) place.add('invalid', 'The program does not compile. It holds a NUL character.');
    else if (whole || key !== undefined)
      return {
        operation: 'jq',
        arguments: { query, ...(key !== undefined && { key }), ...(keeps && { prevent_data_dropping: true }) },
      };
    return undefined;
  },
};

/** Compiles the program alone first: with the code around it, jq would report different lines. */
const problemOf = async (query: string, key: string | undefined): Promise<string | undefined> =>
  (await checkProgram(query)) ?? (key === undefined ? undefined : await checkProgram(query, parseKeyPath(key)));

function nameOf(value: unknown): OperationName | undefined {
  if (typeof value !== 'string') return undefined;
  if (Object.hasOwn(OPERATION_ALIASES, value)) return OPERATION_ALIASES[value];
  return isName(value) ? value : undefined;
}

const isName = (value: string): value is OperationName => Object.hasOwn(parsers, value);

function keyPath(given: DataRecord, name: string, problems: Problems): string | undefined {
  const key = given[name];
  if (typeof key === 'string' && key.length <= 1000 && parseKeyPath(key)) return key;
  problems.at(name).add('required', `It names a place in the record, like actor.email, not ${shown(key)}.`);
  return undefined;
}

function word<Word extends string>(
  given: DataRecord,
  name: string,
  words: readonly Word[],
  problems: Problems,
): Word | undefined {
  const value = given[name];
  const found = words.find((one) => typeof value === 'string' && one === value.toLowerCase());
  if (found === undefined) problems.at(name).add('unknown', `It is one of ${words.join(', ')}, not ${shown(value)}.`);
  return found;
}
