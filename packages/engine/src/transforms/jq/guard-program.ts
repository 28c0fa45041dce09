import type { KeyPath } from '../../conditions/key-path.js';

/**
 * What jq programs of a customer can't do here: look at other records, at files, or end jq for the records that follow.
 * Each is given a meaning that does not exist, so that a program that uses it does not compile.
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

const NOT_HERE = 'not_here_';
const definitions = FORBIDDEN.map((name) => `def ${name}: ${NOT_HERE}${name.replace('(f)', '')};`).join(' ');
/** Nothing is told to the outside, and there is no environment to see. On the same line, so that lines count right. */
const PREFIX = `${definitions} def debug: .; def debug(f): .; def stderr: .; def env: {}; {} as $ENV | `;

/**
 * The program as jq gets it. What stands in front shuts doors, and can't be undone: names are found from the inside out,
 * and jq has no way to name what is hidden. A program that would begin with `import` or `include` does not compile so.
 * @param path keys to where in the record an output goes; absent: an output is a record
 */
export function guardProgram(query: string, path?: KeyPath): string {
  if (!path) return `${PREFIX}${query}\n`;
  // The empty line ends a comment that a backslash carries on.
  return `${PREFIX}. as $record_ | (${query}\n\n) as $output_ | $record_ | setpath(${JSON.stringify(path)}; $output_)`;
}

/** What is wrong with a program, in our words and its own names, from what jq said of it. */
export function explainRefusal(said: string): string {
  if (said === 'memory') return 'It needs too much memory before it meets a record.';
  const [, what = '', line] = /^jq: error: (.+) at <top-level>, line (\d{1,6}):/m.exec(said) ?? [];
  const where = line === undefined ? '' : `Line ${line}: `;
  const [, name] = /^(\$?[\w:]{1,60}(?:\/\d+)?) is not defined$/.exec(what) ?? [];
  if (name?.startsWith(NOT_HERE) === true)
    // jq names the line of the definition above.
    return `${name.slice(NOT_HERE.length).replace(/\/\d+$/, '')} can't be used: a program sees one record and nothing else.`;
  if (name !== undefined) return `${where}${name} is not defined.`;
  if (/unexpected (?:import|include)/.test(what)) return `${where}modules can't be used.`;
  return `${where}this is no valid jq.`;
}
