import type { CatalogType } from '@connector-frame/core/connect';
import { editDistance } from './edit-distance.js';

/** Finds types by words. Best first; without words all of them, as they were given. */
export type Search = (words: string) => CatalogType[];

/** What is searched, and what a word that is found there is worth. */
interface Field {
  /** Numbers of its words in the vocabulary. */
  words: readonly number[];
  weight: number;
  /** Whether a word with a slip may be meant for it. A description has too many words for that. */
  forgives: boolean;
}

interface Entry {
  type: CatalogType;
  fields: readonly Field[];
}

/** A word as it is, the beginning of one, a part of one, one with a slip. */
const EXACT = 8;
const BEGINNING = 6;
const INSIDE = 3;
const SLIP = 2;

/**
 * Prepares a search over names, ids, categories and descriptions. Each word that is typed must be found; one with a slip
 * or two (`crowdstirke`) counts when it is long enough to be told apart.
 */
export function createSearch(types: readonly CatalogType[]): Search {
  // Products share most of their words: each is compared once for a search, whatever the number of types.
  const vocabulary = new Map<string, number>();
  const numberOf = (word: string): number => {
    const known = vocabulary.get(word) ?? vocabulary.size;
    vocabulary.set(word, known);
    return known;
  };
  const entries = types.map((type): Entry => ({ type, fields: fieldsOf(type, numberOf) }));
  const words = [...vocabulary.keys()];

  return (text) => {
    const wanted = wordsOf(text).map((one) => words.map((word) => likeness(one, word)));
    if (wanted.length === 0) return types.slice();
    const found = entries.flatMap(({ type, fields }) => {
      const worths = wanted.map((likenesses) => Math.max(...fields.map((field) => worthOf(field, likenesses))));
      return worths.includes(0) ? [] : [{ type, score: worths.reduce((sum, worth) => sum + worth, 0) }];
    });
    // Sorting is stable: equals stay in the order of the catalog.
    return found.sort((a, b) => b.score - a.score).map(({ type }) => type);
  };
}

function fieldsOf(
  { name, type_id: id, category, description }: CatalogType,
  numberOf: (word: string) => number,
): Field[] {
  const names = wordsOf(name);
  const field = (words: readonly string[], weight: number, forgives = true): Field => ({
    words: words.map(numberOf),
    weight,
    forgives,
  });
  return [
    // `crowd strike` and `1 password` are how people write one word, and the other way round.
    field([...names, names.join('')], 10),
    field(wordsOf(id), 8),
    field(wordsOf(category), 3),
    field(wordsOf(description), 1, false),
  ];
}

function worthOf({ words, weight, forgives }: Field, likenesses: readonly number[]): number {
  const best = Math.max(0, ...words.map((word) => likenesses[word] ?? 0));
  return best > SLIP || forgives ? best * weight : 0;
}

function likeness(wanted: string, word: string): number {
  if (word === wanted) return EXACT;
  if (word.startsWith(wanted)) return BEGINNING;
  if (wanted.length > 1 && word.includes(wanted)) return INSIDE;
  const slips = allowedSlips(wanted);
  if (slips === 0 || word.length < wanted.length - slips) return 0;
  // A word that is still being typed is compared with as many letters of the other.
  const isClose = [word, word.slice(0, wanted.length)].some((one) => editDistance(wanted, one, slips) <= slips);
  return isClose ? SLIP : 0;
}

/** Short words are near to too many others. */
function allowedSlips({ length }: string): number {
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
