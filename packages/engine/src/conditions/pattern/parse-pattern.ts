/** A set of code points, as ranges with both bounds inclusive. */
export type Ranges = readonly (readonly [from: number, to: number])[];

/** A parsed pattern. */
export type Node =
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'start' | 'end' | 'boundary' | 'notBoundary' }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number };

const MAX_CODE = 0x10_ff_ff;
const MAX_REPEAT = 200;
const MAX_DEPTH = 50;
/** Maximum size of a range in which upper and lower case are added. */
const MAX_FOLDED = 1_000;
const DIGIT: Ranges = [[48, 57]];
const WORD: Ranges = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const SPACE: Ranges = [
  [9, 13],
  [32, 32],
];
const LINE_BREAK: Ranges = [[10, 10]];
const ESCAPES: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, a: 7 };

/** Why a pattern can't be used. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

function fail(message: string): never {
  throw new PatternError(message);
}

/** Returns the code points that are not in a set. */
function complement(ranges: Ranges): Ranges {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const rest: [number, number][] = [];
  let next = 0;
  for (const [from, to] of sorted) {
    if (from > next) rest.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= MAX_CODE) rest.push([next, MAX_CODE]);
  return rest;
}

/**
 * Parses a regular expression: classes, groups, alternatives, repetitions, `^`, `$` and `\b`.
 * Backreferences and lookarounds are refused, because they can't be matched in linear time.
 * @param ignoreCase whether characters match in upper and lower case
 * @throws {PatternError}
 */
export function parsePattern(text: string, ignoreCase = false): Node {
  const letters = Array.from(text);
  let at = 0;
  let depth = 0;
  const fold = (ranges: Ranges): Ranges => (ignoreCase ? withCases(ranges) : ranges);
  const peek = (): string | undefined => letters[at];

  function alternatives(): Node {
    depth += 1;
    if (depth > MAX_DEPTH) fail(`Groups nest at most ${MAX_DEPTH} deep.`);
    const parts = [sequence()];
    while (peek() === '|') {
      at += 1;
      parts.push(sequence());
    }
    depth -= 1;
    return parts.length === 1 ? (parts[0] ?? fail('It is empty.')) : { kind: 'choice', parts };
  }

  function sequence(): Node {
    const parts: Node[] = [];
    while (at < letters.length && peek() !== '|' && peek() !== ')') parts.push(repeated());
    return { kind: 'sequence', parts };
  }

  function repeated(): Node {
    let part = atom();
    for (let bounds = quantifier(); bounds; bounds = quantifier()) {
      if (part.kind === 'repeat') fail('A repetition is repeated. Put it in a group.');
      part = { kind: 'repeat', part, ...bounds };
      // Whether a repetition is lazy makes no difference to whether a text matches.
      if (peek() === '?') at += 1;
      else if (peek() === '+') fail('Possessive repetitions are not supported.');
    }
    return part;
  }

  function quantifier(): { min: number; max: number } | undefined {
    const letter = peek();
    if (letter === '*' || letter === '+' || letter === '?') {
      at += 1;
      return { min: letter === '+' ? 1 : 0, max: letter === '?' ? 1 : Number.POSITIVE_INFINITY };
    }
    const found = letter === '{' ? /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(letters.slice(at, at + 12).join('')) : null;
    if (!found) return undefined;
    at += found[0].length;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] ? Number(found[3]) : Number.POSITIVE_INFINITY;
    if (min > max) fail('The bounds of a repetition are in the wrong order.');
    if (min > MAX_REPEAT || (max > MAX_REPEAT && max !== Number.POSITIVE_INFINITY))
      fail(`A repetition has at most ${MAX_REPEAT} times.`);
    return { min, max };
  }

  function atom(): Node {
    const letter = letters[at] ?? '';
    at += 1;
    if (letter === '(') return group();
    if (letter === '[') return { kind: 'set', ranges: characterClass() };
    if (letter === '.') return { kind: 'set', ranges: complement(LINE_BREAK) };
    if (letter === '^') return { kind: 'start' };
    if (letter === '$') return { kind: 'end' };
    if (letter === '\\') return escape();
    if (letter === '*' || letter === '+' || letter === '?') fail('A repetition has nothing to repeat.');
    return { kind: 'set', ranges: fold(codesOf(letter)) };
  }

  function group(): Node {
    const opening = letters.slice(at, at + 60).join('');
    const named = /^\?P?<[A-Za-z_]\w{0,40}>/.exec(opening)?.[0];
    if (opening.startsWith('?:')) at += 2;
    else if (named !== undefined) at += named.length;
    else if (opening.startsWith('?')) fail('Lookarounds and flags in groups are not supported.');
    const inside = alternatives();
    if (peek() !== ')') fail('A group is not closed.');
    at += 1;
    return inside;
  }

  function escape(): Node {
    const letter = letters[at] ?? '';
    if (letter === 'b' || letter === 'B') {
      at += 1;
      return { kind: letter === 'b' ? 'boundary' : 'notBoundary' };
    }
    if (letter === 'A' || letter === 'z') {
      at += 1;
      return { kind: letter === 'A' ? 'start' : 'end' };
    }
    return { kind: 'set', ranges: fold(escaped()) };
  }

  /** Reads what follows a backslash, within and outside of classes. */
  function escaped(): Ranges {
    const letter = letters[at] ?? fail('It ends with a backslash.');
    at += 1;
    const kinds: Readonly<Record<string, Ranges>> = { d: DIGIT, w: WORD, s: SPACE };
    const known = kinds[letter.toLowerCase()];
    if (known) return letter === letter.toLowerCase() ? known : complement(known);
    const control = ESCAPES[letter];
    if (control !== undefined) return [[control, control]];
    if (letter === 'x' || letter === 'u') {
      const found = /^(?:[\dA-Fa-f]{2}|\{[\dA-Fa-f]{1,6}\})/.exec(letters.slice(at, at + 8).join(''))?.[0];
      const long = letter === 'u' ? /^[\dA-Fa-f]{4}/.exec(letters.slice(at, at + 4).join(''))?.[0] : undefined;
      const digits = long ?? found ?? fail('A code point is written \\x41, \\u0041 or \\x{1F600}.');
      at += digits.length;
      const code = Number.parseInt(digits.replaceAll(/[{}]/g, ''), 16);
      if (code > MAX_CODE) fail('A code point is out of range.');
      return [[code, code]];
    }
    if (/[A-Za-z0-9]/.test(letter)) fail(`\\${letter} is not supported.`);
    const code = letter.codePointAt(0) ?? 0;
    return [[code, code]];
  }

  function characterClass(): Ranges {
    const ranges: (readonly [number, number])[] = [];
    const negated = peek() === '^';
    if (negated) at += 1;
    for (let first = true; first || peek() !== ']'; first = false) {
      const from = member();
      if (peek() === '-' && letters[at + 1] !== ']' && letters[at + 1] !== undefined) {
        at += 1;
        const to = member();
        const [low, high] = [from[0]?.[0] ?? 0, to[0]?.[0] ?? 0];
        if (!isSingle(from) || !isSingle(to) || low > high) fail('A range of characters is not valid.');
        ranges.push([low, high]);
      } else ranges.push(...from);
    }
    at += 1;
    return negated ? complement(fold(ranges)) : fold(ranges);
  }

  function member(): Ranges {
    const letter = letters[at] ?? fail('A class of characters is not closed.');
    at += 1;
    if (letter === '\\') return escaped();
    if (letter === '[' && peek() === ':') fail('Named classes are not supported.');
    const code = letter.codePointAt(0) ?? 0;
    return [[code, code]];
  }

  const parsed = alternatives();
  if (at < letters.length) fail('A group is closed that was not opened.');
  return parsed;
}

const isSingle = ([range, ...others]: Ranges): boolean =>
  range !== undefined && others.length === 0 && range[0] === range[1];

function codesOf(letter: string): Ranges {
  const code = letter.codePointAt(0) ?? 0;
  return [[code, code]];
}

/** Adds the upper and lower case of each character, except in very large ranges. */
function withCases(ranges: Ranges): Ranges {
  const cases = ranges.flatMap(([from, to]) => {
    const codes = to - from < MAX_FOLDED ? Array.from({ length: to - from + 1 }, (_, n) => from + n) : [];
    return codes.flatMap((code) => {
      const letter = String.fromCodePoint(code);
      return [letter.toLowerCase(), letter.toUpperCase()].filter(
        (other) => other !== letter && Array.from(other).length === 1,
      );
    });
  });
  return [...ranges, ...cases.flatMap((letter) => codesOf(letter))];
}
