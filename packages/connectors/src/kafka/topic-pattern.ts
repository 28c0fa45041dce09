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
  const ends = pattern.endsWith('$') && !pattern.endsWith('\\$');
  const body = pattern.slice(1, ends ? -1 : undefined);
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
  return (name) => matches(steps, name, ends);
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

/** Simulates the NFA: `places` holds every step that the characters so far can have reached. */
function matches(steps: readonly Step[], name: string, ends: boolean): boolean {
  const skip = (places: Set<number>): Set<number> => {
    for (const place of places) if (steps[place]?.optional) places.add(place + 1);
    return places;
  };
  let places = skip(new Set([0]));
  for (const character of name) {
    if (!ends && places.has(steps.length)) return true;
    const next = new Set<number>();
    for (const place of places) {
      const step = steps[place];
      if (!step?.takes(character)) continue;
      next.add(place + 1);
      if (step.many) next.add(place);
    }
    places = skip(next);
  }
  return places.has(steps.length);
}
