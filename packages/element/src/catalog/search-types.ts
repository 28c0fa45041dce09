import type { CatalogType } from '@connector-frame/core/connect';
import { editDistance } from './edit-distance.js';

/** Finds types by words. Best first; without words all of them, as they were given. */
export type Search = (words: string) => CatalogType[];

/** What is searched, and what a word that is found there is worth. */
interface Field {
  /** In lower case, without accents. */
  words: readonly string[];
  weight: number;
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
  const entries = types.map((type): Entry => ({ type, fields: fieldsOf(type) }));
  return (text) => {
    const wanted = wordsOf(text);
    if (wanted.length === 0) return types.slice();
    const found = entries.flatMap(({ type, fields }) => {
      let score = 0;
      for (const word of wanted) {
        const worth = Math.max(...fields.map((field) => worthOf(word, field)));
        if (worth === 0) return [];
        score += worth;
      }
      return [{ type, score }];
    });
    // Sorting is stable: equals stay in the order of the catalog.
    return found.sort((a, b) => b.score - a.score).map(({ type }) => type);
  };
}

function fieldsOf({ name, type_id: id, category, description }: CatalogType): Field[] {
  const names = wordsOf(name);
  return [
    // `crowd strike` and `1 password` are how people write one word, and the other way round.
    { words: [...names, names.join('')], weight: 10 },
    { words: wordsOf(id), weight: 8 },
    { words: wordsOf(category), weight: 3 },
    { words: wordsOf(description), weight: 1 },
  ];
}

function worthOf(wanted: string, { words, weight }: Field): number {
  let best = 0;
  for (const word of words) {
    if (word === wanted) return weight * EXACT;
    if (word.startsWith(wanted)) best = Math.max(best, BEGINNING);
    else if (best < INSIDE && wanted.length > 1 && word.includes(wanted)) best = INSIDE;
  }
  if (best > 0) return weight * best;
  const slips = allowedSlips(wanted);
  if (slips === 0) return 0;
  // A word that is still being typed is compared with as many letters of the other.
  const close = words.some(
    (word) =>
      editDistance(wanted, word, slips) <= slips || editDistance(wanted, word.slice(0, wanted.length), slips) <= slips,
  );
  return close ? weight * SLIP : 0;
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
