import type { KeyPath } from '../../connector-api/key-path.js';

/**
 * Builtins that customers' jq programs must not use: they read other records or files, or end jq
 * for the following records. Each is redefined to call an undefined function, so that a program
 * that uses it does not compile.
 */
const FORBIDDEN = [
  'input',
  'inputs',
  'input_filename',
  'input_line_number',
  'halt',
  'halt_error',
  'halt_error(f)',
  'modulemeta',
  'get_search_list',
  'get_jq_origin',
  'get_prog_origin',
];

const UNAVAILABLE = 'not_here_';
const definitions = FORBIDDEN.map((name) => `def ${name}: ${UNAVAILABLE}${name.replace('(f)', '')};`).join(' ');
/**
 * Disables debug output and the environment. On the same line, so that jq's line numbers stay
 * correct.
 */
const PREFIX = `${definitions} def debug: .; def debug(f): .; def stderr: .; def env: {}; {} as $ENV | `;

/**
 * Returns the program with the restricting definitions in front. The program can't undo them: jq
 * resolves names from the innermost scope and has no syntax for shadowed ones. A program that
 * begins with `import` or `include` does not compile after them.
 * @param path keys to where in the record an output goes; absent: an output is a record
 */
export function guardProgram(query: string, path?: KeyPath): string {
  if (!path) return `${PREFIX}${query}\n`;
  // The empty line ends a comment that a trailing backslash continues.
  return `${PREFIX}. as $record_ | (${query}\n\n) as $output_ | $record_ | setpath(${JSON.stringify(path)}; $output_)`;
}

/**
 * Converts a jq compile error to a message for users. Quotes nothing from the program but names.
 */
export function explainCompileError(stderr: string): string {
  if (stderr === 'memory') return 'It needs too much memory before it meets a record.';
  const [, what = '', line] = /^jq: error: (.+) at <top-level>, line (\d{1,6}):/m.exec(stderr) ?? [];
  const where = line === undefined ? '' : `Line ${line}: `;
  const [, name] = /^(\$?[\w:]{1,60}(?:\/\d+)?) is not defined$/.exec(what) ?? [];
  if (name?.startsWith(UNAVAILABLE) === true)
    // jq would report the line of the definition above.
    return `${name.slice(UNAVAILABLE.length).replace(/\/\d+$/, '')} can't be used: a program sees one record and nothing else.`;
  if (name !== undefined) return `${where}${name} is not defined.`;
  if (/unexpected (?:import|include)/.test(what)) return `${where}modules can't be used.`;
  return `${where}this is no valid jq.`;
}
