import type { CatalogType } from '@connector-frame/core/connect';
import { editDistance } from './edit-distance.js';

/** Finds connector types, best match first. An empty query returns all in their original order. */
export type Search = (query: string) => CatalogType[];

/** A searched field of a connector type. */
interface Field {
  /** Indexes of its words in the vocabulary. */
  words: readonly number[];
  /** Factor of the score of a word that is found here. */
  weight: number;
  /** Whether misspelled words match. Descriptions have too many words for that. */
  allowsTypos: boolean;
}

/** A word, and a bit for each of its letters. */
interface Word {
  word: string;
  letters: number;
}

interface Entry {
  type: CatalogType;
  fields: readonly Field[];
  /** The name and the aliases as wholes, without spaces. */
  phrases: ReadonlySet<string>;
}

// Scores of a match: the whole word, its beginning, a part of it, or with typos.
const EXACT = 8;
const PREFIX = 6;
const PART = 3;
const TYPO = 2;
/** Added if the query is the name or an alias: more than the words of a short query can score. */
const WHOLE = 200;

/**
 * Creates a search over names, aliases, IDs, categories and descriptions. Every word of the query
 * must match, or the query as a whole must be a name or an alias. Long words match with one or two typos (`crowdstirke`).
 */
export function createSearch(types: readonly CatalogType[]): Search {
  // Types share most of their words; each distinct word is compared once per search.
  const vocabulary = new Map<string, number>();
  const indexOf = (word: string): number => {
    const known = vocabulary.get(word) ?? vocabulary.size;
    vocabulary.set(word, known);
    return known;
  };
  const entries = types.map((type): Entry => ({
    type,
    fields: fieldsOf(type, indexOf),
    phrases: new Set([type.name, ...(type.aliases ?? [])].map(phraseOf)),
  }));
  const words = [...vocabulary.keys()].map((word): Word => ({ word, letters: lettersOf(word) }));

  return (query) => {
    // For each word of the query, its match with each word of the vocabulary.
    const phrase = phraseOf(query);
    const matches = wordsOf(query).map((term) => {
      const letters = lettersOf(term);
      return words.map((word) => matchScore({ word: term, letters }, word));
    });
    if (matches.length === 0) return types.slice();
    const found = entries.flatMap(({ type, fields, phrases }) => {
      const scores = matches.map((match) => Math.max(...fields.map((field) => fieldScore(field, match))));
      const whole = phrases.has(phrase) ? WHOLE : 0;
      if (whole === 0 && scores.includes(0)) return [];
      return [{ type, score: scores.reduce((sum, score) => sum + score, whole) }];
    });
    // Sorting is stable: equal scores stay in the order of the catalog.
    return found.sort((a, b) => b.score - a.score).map(({ type }) => type);
  };
}

function fieldsOf(
  { name, type_id: id, category, description, aliases = [] }: CatalogType,
  indexOf: (word: string) => number,
): Field[] {
  const names = wordsOf(name);
  const field = (words: readonly string[], weight: number, allowsTypos = true): Field => ({
    words: words.map(indexOf),
    weight,
    allowsTypos,
  });
  return [
    // Users write `crowd strike` for `CrowdStrike`, and `1password` for `1 Password`.
    field([...names, names.join('')], 10),
    field(wordsOf(id), 8),
    // Aliases are alternatives: a typo in one is too often a word of another product.
    field(
      aliases.flatMap((alias) => [...wordsOf(alias), phraseOf(alias)]),
      7,
      false,
    ),
    field(wordsOf(category), 3),
    field(wordsOf(description), 1, false),
  ];
}

function fieldScore({ words, weight, allowsTypos }: Field, match: readonly number[]): number {
  const best = Math.max(0, ...words.map((word) => match[word] ?? 0));
  return best > TYPO || allowsTypos ? best * weight : 0;
}

function matchScore({ word: term, letters }: Word, { word, letters: known }: Word): number {
  if (word === term) return EXACT;
  if (word.startsWith(term)) return PREFIX;
  if (term.length > 1 && word.includes(term)) return PART;
  const typos = allowedTypos(term);
  if (typos === 0 || word.length < term.length - typos || bitsOf(letters & ~known) > typos) return 0;
  // Also compares with the beginning of the word: the user may still be typing.
  const isClose = [word, word.slice(0, term.length)].some((text) => editDistance(term, text, typos) <= typos);
  return isClose ? TYPO : 0;
}

/** Short words are similar to too many others. */
function allowedTypos({ length }: string): number {
  if (length < 4) return 0;
  return length < 8 ? 1 : 2;
}

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const phraseOf = (text: string): string => wordsOf(text).join('');

/**
 * Returns a bit for each letter; some letters share one. A typo adds at most one letter, so most
 * words are excluded without computing a distance.
 */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index++) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

function bitsOf(letters: number): number {
  let count = 0;
  for (let rest = letters; rest !== 0; rest &= rest - 1) count++;
  return count;
}
