/**
 * Topic name patterns. Does not use `RegExp`: with backtracking, one customer's pattern could block
 * all pipelines. Matching takes time proportional to name length × pattern length for any input.
 */

interface Step {
  takes: (character: string) => boolean;
  /** May match more than once. */
  many: boolean;
  /** May match zero times. */
  optional: boolean;
}

/**
 * Compiles a pattern: `^`, then literal characters, `.` for any character, `[a-z0-9]`, `[^...]` and
 * `\.` for a dot, each optionally followed by `*`, `+` or `?`; then an optional `$`. Without `$`,
 * only the start of the name has to match.
 *
 * @returns a function that tests a name, or `undefined` if the pattern is not valid
 */
export function compilePattern(pattern: string): ((name: string) => boolean) | undefined {
  const steps: Step[] = [];
  const anchored = pattern.endsWith('$') && !pattern.endsWith('\\$');
  const body = pattern.slice(1, anchored ? -1 : undefined);
  const atom = /\\([^A-Za-z0-9])|\[(\^?)((?:[^\]\\]|\\.)+)\]|([^\\[\](){}|*+?^$])/gy;
  for (let at = 0; at < body.length;) {
    atom.lastIndex = at;
    const found = atom.exec(body);
    if (!found) return undefined;
    at = atom.lastIndex;
    const [, escaped, not, set, plain] = found;
    const takes = set === undefined ? single(escaped, plain) : oneOf(set, not === '^');
    if (!takes) return undefined;
    const times = body[at] ?? '';
    const counted = '*+?'.includes(times) && times !== '';
    if (counted) at += 1;
    steps.push({ takes, many: counted && times !== '?', optional: counted && times !== '+' });
  }
  return (name) => matches(steps, name, anchored);
}

function single(escaped: string | undefined, plain: string | undefined): Step['takes'] {
  if (escaped !== undefined) return (character) => character === escaped;
  return plain === '.' ? () => true : (character) => character === plain;
}

function oneOf(set: string, not: boolean): Step['takes'] | undefined {
  const ranges: [string, string][] = [];
  for (const [, from = '', to = from] of set.replaceAll('\\', '').matchAll(/(.)(?:-(.))?/g)) {
    if (from > to) return undefined;
    ranges.push([from, to]);
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== not;
}

/** Simulates the NFA: `states` holds every step that the characters so far can have reached. */
function matches(steps: readonly Step[], name: string, anchored: boolean): boolean {
  const skip = (states: Set<number>): Set<number> => {
    for (const state of states) if (steps[state]?.optional) states.add(state + 1);
    return states;
  };
  let states = skip(new Set([0]));
  for (const character of name) {
    if (!anchored && states.has(steps.length)) return true;
    const next = new Set<number>();
    for (const state of states) {
      const step = steps[state];
      if (!step?.takes(character)) continue;
      next.add(state + 1);
      if (step.many) next.add(state);
    }
    states = skip(next);
  }
  return states.has(steps.length);
}
