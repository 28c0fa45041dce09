import { parseKeyPath } from '../connector-api/key-path.js';
import { Problems, shown, type Problem } from '../problem.js';
import { isRecord, type DataRecord } from '../connector-api/record.js';
import { checkProgram } from './jq/check-program.js';
import { MUTATED_TYPES, OPERATION_ALIASES, TIMESTAMP_FORMATS } from './operation.js';
import type { Operation, OperationName, TransformConfig } from './operation.js';

const MAX_OPERATIONS = 20;
const MAX_VALUE_LENGTH = 16 * 1024;
const MAX_QUERY_BYTES = 16 * 1024;

/**
 * Parses an untrusted transform and returns it in the stored format, with canonical names and
 * without unknown properties, or returns its problems. Compiles jq programs to validate them.
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
  const given = isRecord(value) ? value['operations'] : undefined;
  const list = problems.at('operations');
  const operations: Operation[] = [];
  if (!Array.isArray(given)) list.add('required', 'A transform has a list of operations.');
  else if (given.length > MAX_OPERATIONS) list.add('too_many', `A transform has at most ${MAX_OPERATIONS} operations.`);
  else {
    for (const [index, each] of given.entries()) {
      const operation = await parseOperation(each, list.at(index));
      if (operation) operations.push(operation);
    }
  }
  return problems.list.length > 0 ? { ok: false, problems: problems.list } : { ok: true, transform: { operations } };
}

async function parseOperation(value: unknown, problems: Problems): Promise<Operation | undefined> {
  if (!isRecord(value)) {
    problems.add('type', `An operation is an object, not ${shown(value)}.`);
    return undefined;
  }
  const { operation, arguments: given = {} } = value;
  const name = nameOf(operation);
  const place = problems.at('operation');
  if (!name) place.add('unknown', `${shown(operation)} is no operation. Known: ${Object.keys(parsers).join(', ')}.`);
  else if (!isRecord(given)) problems.at('arguments').add('type', `Arguments are an object, not ${shown(given)}.`);
  else return parsers[name](given, problems.at('arguments'));
  return undefined;
}

type Parsed = Operation | undefined;
type Parser = (given: DataRecord, problems: Problems) => Parsed | Promise<Parsed>;

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
  jq: async (given, problems) => {
    const { query } = given;
    const place = problems.at('query');
    const whole = given['key'] === undefined || given['key'] === '';
    const key = whole ? undefined : keyPath(given, 'key', problems);
    if (typeof query !== 'string' || query.trim() === '')
      place.add('required', `It is a jq program, like {user: .actor.email}, not ${shown(query)}.`);
    else if (Buffer.byteLength(query) > MAX_QUERY_BYTES)
      place.add('too_long', `A jq program has at most ${MAX_QUERY_BYTES} bytes.`);
    else {
      const problem = query.includes('\0') ? 'It holds a NUL character.' : await problemOf(query, key);
      if (problem !== undefined) place.add('invalid', `The program does not compile. ${problem}`);
      else if (whole) return { operation: 'jq', arguments: { query } };
      else if (key !== undefined) return { operation: 'jq', arguments: { query, key } };
    }
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
