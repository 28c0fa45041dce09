import type { Found, Parser } from './parser.js';

/** Trims the texts of records, and leaves out those that stand for "no value". */
export function tidied(parser: Parser, empty: string): Parser {
  const tidy = (all: Found[]): Found[] =>
    all.map((found) => {
      if (!('record' in found)) return found;
      const entries = Object.entries(found.record).flatMap(([name, value]) => {
        const text = typeof value === 'string' ? value.trim() : value;
        return text === empty || text === '' ? [] : [[name, text] as const];
      });
      return { record: Object.fromEntries(entries) };
    });
  return { push: (text) => tidy(parser.push(text)), end: () => tidy(parser.end()) };
}
