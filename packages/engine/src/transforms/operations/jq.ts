import { parseKeyPath } from '../../connector-api/key-path.js';
import type { Problems } from '../../problem.js';
import { checkProgram } from '../jq/check-program.js';
import { JqProgram } from '../jq/jq-program.js';
import { defineOperation } from '../operation-type.js';

const MAX_QUERY_BYTES = 16 * 1024;

/**
 * Replaces each record by the outputs of a jq program: none drops the record, several create several
 * records. A program has access to one record only.
 */
export const jq = defineOperation({
  id: 'jq',
  name: 'jq',
  description: 'Replaces each record by the outputs of a jq program. Each output must be an object, unless key is set.',
  arguments: {
    query: { kind: 'text', required: true, maxLength: 64 * 1024, description: 'The program: {user: .actor.email}' },
    key: { kind: 'key', description: 'Path where the output is set in the record. Absent: it replaces the record.' },
    prevent_data_dropping: {
      kind: 'boolean',
      default: false,
      description: 'A record without outputs is unchanged instead of dropped.',
    },
  },
  check: ({ query }, problems) => {
    const place = problems.at('arguments', 'query');
    if (query.trim() === '') place.add('required', 'It is a jq program, like {user: .actor.email}.');
    else if (Buffer.byteLength(query) > MAX_QUERY_BYTES)
      place.add('too_long', `A jq program has at most ${MAX_QUERY_BYTES} bytes.`);
    else if (query.includes('\0')) place.add('invalid', 'The program does not compile. It holds a NUL character.');
  },
  compile: ({ query, key, prevent_data_dropping: keeps }) => {
    const program = new JqProgram(query, key === undefined ? undefined : parseKeyPath(key));
    return {
      kind: 'batch',
      run: async ({ lines }, bounds) => {
        const outcomes = await program.run(lines, bounds);
        return keeps
          ? outcomes?.map((outcome, index) => (outcome.length > 0 ? outcome : [lines[index] ?? '']))
          : outcomes;
      },
    };
  },
});

/**
 * Adds a problem if a valid operation's program does not compile.
 * @param given arguments of the operation
 * @throws {ConnectorError} `jq`, of kind `retry`: jq can't be started
 */
export async function checkQuery(given: Readonly<Record<string, unknown>>, problems: Problems): Promise<void> {
  const { query, key } = given;
  const path = typeof key === 'string' && key !== '' ? parseKeyPath(key) : undefined;
  // Compiles the program alone first: with the code around it, jq would report different lines.
  const text = String(query);
  const problem = (await checkProgram(text)) ?? (path && (await checkProgram(text, path)));
  if (problem !== undefined) problems.add('invalid', `The program does not compile. ${problem}`);
}
