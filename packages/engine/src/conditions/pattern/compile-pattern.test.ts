import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../testing/random.js';
import { checkPattern, compilePattern } from './compile-pattern.js';

const PATTERNS = [
  'a',
  'ab|cd',
  '^ab',
  'ab$',
  '^(ab|a)*$',
  'a+b?c*',
  '(a|b){2,3}c',
  'a{0,2}b{2}',
  '[a-c]+[^a-c]',
  '[]a]b'.replace('[]', '[\\]'),
  '\\bab\\b',
  '\\Bb\\B',
  '\\d+\\.\\d+',
  '\\w\\W\\s?',
  '^$',
  'a.b',
  '(?:a|(?<name>b))c',
  '\\x61\\u0062',
  'a{b}',
  'a|',
  '(a*)*b',
  '^\\s*[-+]?\\d{1,3}$',
];
const TEXTS = ['', 'a', 'ab', 'abc', 'cd', 'aab', 'a b', 'a\nb', 'b1.5', 'é', '-12', 'AB', 'ab ab', 'a{b}', ']b'];

test.each(PATTERNS)('%s agrees with the built-in regular expressions', (pattern) => {
  const random = seededRandom(5);
  const letters = 'abcd1.- \nA{}';
  const texts = Array.from({ length: 300 }, () =>
    Array.from({ length: Math.floor(random() * 9) }, () => letters[Math.floor(random() * letters.length)]).join(''),
  );
  for (const ignoreCase of [false, true]) {
    const matches = compilePattern(pattern, ignoreCase);
    const expected = new RegExp(pattern, ignoreCase ? 'i' : '');
    for (const text of [...TEXTS, ...texts])
      expect([pattern, text, matches(text)]).toEqual([pattern, text, expected.test(text)]);
  }
});

test('random patterns agree with the built-in regular expressions, with a full cache, too', () => {
  const random = seededRandom(9);
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  const grow = (depth: number): string => {
    if (depth > 3 || random() < 0.3) return pick(['a', 'b', '.', '[ab]', '[^a]', '\\b', '^', '$']);
    const [one, two] = [grow(depth + 1), grow(depth + 1)];
    return pick([
      `${one}${two}`,
      `(${one}|${two})`,
      `(${one})*`,
      `(${one})?${two}`,
      `(${one}){1,2}`,
      `(${one})+${two}`,
    ]);
  };
  for (let round = 0; round < 1_500; round += 1) {
    const pattern = grow(0);
    if (typeof checkPattern(pattern) === 'string') continue;
    const matches = compilePattern(pattern);
    const expected = new RegExp(pattern);
    for (let n = 0; n < 20; n += 1) {
      const text = Array.from({ length: Math.floor(random() * 8) }, () => pick(['a', 'b', 'c', ' '])).join('');
      expect([pattern, text, matches(text)]).toEqual([pattern, text, expected.test(text)]);
    }
  }
  // More sets of states than the cache holds.
  const wide = compilePattern('a[ab]{15}c');
  const expected = /a[ab]{15}c/;
  for (let n = 0; n < 300; n += 1) {
    const text = `${Array.from({ length: 60 }, () => pick(['a', 'b'])).join('')}c`;
    expect([text, wide(text)]).toEqual([text, expected.test(text)]);
  }
});

describe('hostile patterns', () => {
  test.each(['(a+)+$', '^(a|a)*$', '(a*)*b', '([a-z]+)*\\d', '(.*)(.*)(.*)(.*)x$', '(a|b)*a(a|b){20}c'])(
    '%s takes linear time',
    (pattern) => {
      const matches = compilePattern(pattern);
      // A backtracking engine doesn't return within the time limit of a test.
      expect(matches(`${'a'.repeat(200_000)}!`)).toBe(false);
    },
  );

  test.each([
    '(',
    ')',
    'a**',
    '*a',
    '[a',
    '[b-a]',
    '\\',
    '\\p{L}',
    '\\1',
    '(?=a)',
    '(?<!a)',
    '(?i)a',
    'a{3,2}',
    'a{1000}',
    '(a{100}){100}',
    'a++',
    '\\x{FFFFFFF}',
    '('.repeat(100) + ')'.repeat(100),
  ])('%s is refused', (pattern) => {
    expect(checkPattern(pattern)).toEqual(expect.any(String));
  });
});
