import type { Parser } from './parser.js';
import { createLineParser } from './json-lines.js';

/**
 * Creates a parser for the extended log file format: directives begin with `#`, and `#Fields:` names the
 * columns. Cells are separated by tabs, or else by spaces.
 * https://www.w3.org/TR/WD-logfile.html
 */
export function createW3cParser(): Parser {
  let names: readonly string[] = [];
  return createLineParser((line) => {
    if (line.startsWith('#')) {
      const [, fields] = /^#Fields:\s*(.*)$/i.exec(line) ?? [];
      if (fields !== undefined) names = fields.trim().split(/\s+/);
      return [];
    }
    const cells = line.includes('\t') ? line.split('\t') : line.trim().split(/ +/);
    return [{ record: Object.fromEntries(cells.map((cell, index) => [names[index] ?? `column_${index + 1}`, cell])) }];
  });
}
