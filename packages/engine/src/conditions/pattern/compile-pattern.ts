import { parsePattern, PatternError, type Node, type Ranges } from './parse-pattern.js';

/**
 * Regular expressions that match in time linear in the text, whatever the pattern: a
 * nondeterministic automaton, whose sets of states are computed when they first occur. The built-in
 * ones backtrack, and so could block the pipelines of all customers.
 * https://swtch.com/~rsc/regexp/regexp1.html
 */

/** Maximum number of states of one pattern. It bounds the time per character. */
export const MAX_STATES = 200;
/** Maximum number of cached transitions of one pattern. */
const MAX_CACHED = 2_000;

type Assertion = 'start' | 'end' | 'boundary' | 'notBoundary';

type State =
  | { readonly kind: 'set'; readonly ranges: Ranges; next: number }
  | { readonly kind: Assertion; next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'match' };

/** What precedes a position: nothing, a word character, or another one. */
type Before = 'start' | 'word' | 'other';
const END = -1;
const MATCHED = -1;
const KINDS: readonly State['kind'][] = ['match', 'set', 'split', 'start', 'end', 'boundary', 'notBoundary'];
const [MATCH, SET, SPLIT] = [0, 1, 2];

/** States before the position, and the transitions found so far. `true`: the text matches. */
interface Position {
  readonly states: Int32Array;
  readonly before: Before;
  readonly next: Map<number, Position | boolean>;
}

/**
 * Compiles a pattern to a function that returns whether a text contains a match.
 * @throws {PatternError}
 */
export function compilePattern(text: string, ignoreCase = false): (value: string) => boolean {
  const { states, start } = statesOf(parsePattern(text, ignoreCase));
  return createMatcher(states, start);
}

/** Returns the number of states of a pattern, or what is wrong with it. */
export function checkPattern(text: string): number | string {
  try {
    return statesOf(parsePattern(text)).states.length;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

function statesOf(root: Node): { states: State[]; start: number } {
  const states: State[] = [{ kind: 'match' }];
  const add = (state: State): number => {
    if (states.length >= MAX_STATES) throw new PatternError(`It is too large: more than ${MAX_STATES} states.`);
    return states.push(state) - 1;
  };
  /** Adds the states of a node before `next`, and returns the first. */
  function build(node: Node, next: number): number {
    switch (node.kind) {
      case 'set':
        return add({ kind: 'set', ranges: node.ranges, next });
      case 'sequence':
        return node.parts.reduceRight((after, part) => build(part, after), next);
      case 'choice':
        return node.parts
          .map((part) => build(part, next))
          .reduceRight((other, first) => add({ kind: 'split', next: first, other }));
      case 'repeat': {
        let after = next;
        if (node.max === Number.POSITIVE_INFINITY) {
          const loop: State = { kind: 'split', next, other: next };
          after = add(loop);
          loop.next = build(node.part, after);
        } else
          for (let n = node.min; n < node.max; n += 1)
            after = add({ kind: 'split', next: build(node.part, after), other: next });
        for (let n = 0; n < node.min; n += 1) after = build(node.part, after);
        return after;
      }
      default:
        return add({ kind: node.kind, next });
    }
  }
  const start = build(root, 0);
  return { states, start };
}

/** The states as arrays of numbers: a step visits each state that can be reached, at every character. */
function toTable(states: readonly State[]) {
  const count = states.length;
  const table = {
    kinds: Uint8Array.from(states, ({ kind }) => KINDS.indexOf(kind)),
    next: Int32Array.from(states, (state) => ('next' in state ? state.next : 0)),
    other: Int32Array.from(states, (state) => ('other' in state ? state.other : 0)),
    /** For each state, whether it accepts each character below 128. */
    ascii: new Uint8Array(count * 128),
    ranges: states.map((state): Ranges => (state.kind === 'set' ? state.ranges : [])),
  };
  for (const [number, ranges] of table.ranges.entries())
    for (let code = 0; code < 128; code += 1) table.ascii[number * 128 + code] = inRanges(ranges, code) ? 1 : 0;
  return table;
}

/** Returns a function that computes the states after a character. */
function createStep(states: readonly State[], start: number) {
  const { kinds, next, other, ascii, ranges } = toTable(states);
  const visited = new Float64Array(states.length);
  const added = new Float64Array(states.length);
  const pending = new Int32Array(states.length * 2 + 2);
  let step = 0;

  /**
   * Writes the states to `out`, and returns their number, or `MATCHED`.
   * @param size number of states in `current`
   */
  return (current: Int32Array, size: number, before: Before, code: number, out: Int32Array): number => {
    step += 1;
    out[0] = start;
    added[start] = step;
    let length = 1;
    for (let index = 0; index < size; index += 1) {
      pending[0] = current[index] ?? 0;
      for (let top = 1; top > 0;) {
        top -= 1;
        const number = pending[top] ?? 0;
        if (visited[number] === step) continue;
        visited[number] = step;
        const kind = kinds[number];
        const after = next[number] ?? 0;
        if (kind === MATCH) return MATCHED;
        if (kind === SET) {
          if (added[after] === step || code === END) continue;
          if (code < 128 ? ascii[number * 128 + code] !== 1 : !inRanges(ranges[number] ?? [], code)) continue;
          added[after] = step;
          out[length] = after;
          length += 1;
        } else if (kind === SPLIT || holds(states[number]?.kind, before, code)) {
          pending[top] = after;
          top += 1;
          if (kind !== SPLIT) continue;
          pending[top] = other[number] ?? 0;
          top += 1;
        }
      }
    }
    return length;
  };
}

function createMatcher(states: readonly State[], start: number): (value: string) => boolean {
  const step = createStep(states, start);
  const buffers = [new Int32Array(states.length), new Int32Array(states.length)] as const;
  const positions = new Map<string, Position>();
  let cached = 0;

  function positionOf(numbers: Int32Array, before: Before): Position {
    const key = `${before} ${numbers.toSorted().join(' ')}`;
    const known = positions.get(key);
    if (known) return known;
    const position = { states: numbers, before, next: new Map<number, Position | boolean>() };
    positions.set(key, position);
    return position;
  }

  function cache(position: Position, code: number): Position | boolean {
    const known = position.next.get(code);
    if (known !== undefined) return known;
    const [out] = buffers;
    const size = step(position.states, position.states.length, position.before, code, out);
    let next: Position | boolean = size === MATCHED;
    if (!next && code !== END) next = positionOf(out.slice(0, size), beforeOf(code));
    position.next.set(code, next);
    cached += 1;
    return next;
  }

  /** Goes on without the cache: looking sets up would cost more than computing them. */
  function matchUncached(value: string, from: number, position: Position): boolean {
    let [current, out] = buffers;
    let { before } = position;
    let size = position.states.length;
    current.set(position.states);
    for (let at = from; ;) {
      const code = codeAt(value, at);
      size = step(current, size, before, code, out);
      if (size === MATCHED || code === END) return size === MATCHED;
      [current, out] = [out, current];
      before = beforeOf(code);
      at += code > 0xff_ff ? 2 : 1;
    }
  }

  return (value) => {
    let position = positionOf(Int32Array.of(start), 'start');
    for (let at = 0; ;) {
      // A pattern with very many sets of states fills the cache; it is not cleared for the next text.
      if (cached >= MAX_CACHED) return matchUncached(value, at, position);
      const code = codeAt(value, at);
      const next = cache(position, code);
      if (typeof next === 'boolean') return next;
      position = next;
      at += code > 0xff_ff ? 2 : 1;
    }
  };
}

const codeAt = (value: string, at: number): number => (at >= value.length ? END : (value.codePointAt(at) ?? END));
const beforeOf = (code: number): Before => (isWord(code) ? 'word' : 'other');

function holds(assertion: State['kind'] | undefined, before: Before, code: number): boolean {
  if (assertion === 'start') return before === 'start';
  if (assertion === 'end') return code === END;
  const isBoundary = (before === 'word') !== isWord(code);
  return isBoundary === (assertion === 'boundary');
}

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);

function inRanges(ranges: Ranges, code: number): boolean {
  for (const [from, to] of ranges) if (code >= from && code <= to) return true;
  return false;
}
