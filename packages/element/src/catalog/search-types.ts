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

interface Entry {
  type: CatalogType;
  fields: readonly Field[];
}

// Scores of a match: the whole word, its beginning, a part of it, or with typos.
const EXACT = 8;
const PREFIX = 6;
const PART = 3;
const TYPO = 2;

/**
 * Creates a search over names, IDs, categories and descriptions. Every word of the query must
 * match. Long words match with one or two typos (`crowdstirke`).
 */
export function createSearch(types: readonly CatalogType[]): Search {
  // Types share most of their words; each distinct word is compared once per search.
  const vocabulary = new Map<string, number>();
  const indexOf = (word: string): number => {
    const known = vocabulary.get(word) ?? vocabulary.size;
    vocabulary.set(word, known);
    return known;
  };
  const entries = types.map((type): Entry => ({ type, fields: fieldsOf(type, indexOf) }));
  const words = [...vocabulary.keys()];

  return (query) => {
    // For each word of the query, its match with each word of the vocabulary.
    const matches = wordsOf(query).map((term) => words.map((word) => matchScore(term, word)));
    if (matches.length === 0) return types.slice();
    const found = entries.flatMap(({ type, fields }) => {
      const scores = matches.map((match) => Math.max(...fields.map((field) => fieldScore(field, match))));
      return scores.includes(0) ? [] : [{ type, score: scores.reduce((sum, score) => sum + score, 0) }];
    });
    // Sorting is stable: equal scores stay in the order of the catalog.
    return found.sort((a, b) => b.score - a.score).map(({ type }) => type);
  };
}

function fieldsOf(
  { name, type_id: id, category, description }: CatalogType,
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
    field(wordsOf(category), 3),
    field(wordsOf(description), 1, false),
  ];
}

function fieldScore({ words, weight, allowsTypos }: Field, match: readonly number[]): number {
  const best = Math.max(0, ...words.map((word) => match[word] ?? 0));
  return best > TYPO || allowsTypos ? best * weight : 0;
}

function matchScore(term: string, word: string): number {
  if (word === term) return EXACT;
  if (word.startsWith(term)) return PREFIX;
  if (term.length > 1 && word.includes(term)) return PART;
  const typos = allowedTypos(term);
  if (typos === 0 || word.length < term.length - typos) return 0;
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
