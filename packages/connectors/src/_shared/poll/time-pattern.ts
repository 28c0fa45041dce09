import { fromLocal, offsetAt } from './time-zone.js';

/** Timestamps by a pattern with the directives of `strftime`: see `PollTimeForm`. */
const DIRECTIVE = /%(:z|[A-Za-z%])/g;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Regular expression of each directive when parsing. */
const PARTS: Readonly<Record<string, string>> = {
  Y: String.raw`\d{4}`,
  y: String.raw`\d{2}`,
  m: String.raw`\d{1,2}`,
  b: '[A-Za-z]{3}',
  d: String.raw`\s?\d{1,2}`,
  H: String.raw`\d{1,2}`,
  I: String.raw`\s?\d{1,2}`,
  p: '[AaPp][Mm]',
  M: String.raw`\d{2}`,
  S: String.raw`\d{2}`,
  L: String.raw`\d{1,9}`,
  f: String.raw`\d{1,9}`,
  N: String.raw`\d{1,9}`,
  z: String.raw`Z|[+-]\d{2}:?\d{2}`,
  ':z': String.raw`Z|[+-]\d{2}:?\d{2}`,
};

/** Compact patterns have no separators: every number has all its digits. */
const isCompact = (pattern: string): boolean => /%[YymdHIMS]%[ymdHIMSLfN]/.test(pattern);

const granularities: readonly [directives: RegExp, ms: number][] = [
  [/%[LfN]/, 1],
  [/%S/, 1_000],
  [/%M/, 60_000],
  [/%[HI]/, 3_600_000],
];

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats a time; rounds down to the smallest part of the pattern, or up if `up` is set. */
export function formatPattern(ms: number, pattern: string, zone: string, up = false): string {
  const step = granularities.find(([directives]) => directives.test(pattern))?.[1];
  // A pattern without a time of day names a day, which its vendor includes.
  const exact = step === undefined ? ms : (up ? Math.ceil : Math.floor)(ms / step) * step;
  const offset = /%:?z/.test(pattern) ? 0 : offsetAt(exact, zone);
  const local = new Date(exact + offset);
  const fraction = String(local.getUTCMilliseconds()).padStart(3, '0');
  const values: Readonly<Record<string, string>> = {
    Y: String(local.getUTCFullYear()),
    y: two(local.getUTCFullYear() % 100),
    m: two(local.getUTCMonth() + 1),
    b: MONTHS[local.getUTCMonth()] ?? '',
    d: two(local.getUTCDate()),
    H: two(local.getUTCHours()),
    I: two(local.getUTCHours() % 12 || 12),
    p: local.getUTCHours() < 12 ? 'AM' : 'PM',
    M: two(local.getUTCMinutes()),
    S: two(local.getUTCSeconds()),
    L: fraction,
    f: `${fraction}000`,
    N: `${fraction}000000`,
    z: '+0000',
    ':z': '+00:00',
    '%': '%',
  };
  return pattern.replaceAll(DIRECTIVE, (_whole, directive: string) => values[directive] ?? '');
}

/** Parses a time to milliseconds since the epoch, or `NaN` if it does not match the pattern. */
export function parsePattern(text: string, pattern: string, zone: string): number {
  const { expression, directives } = compiled(pattern);
  const found = expression.exec(text.trim());
  if (!found) return Number.NaN;
  const part = new Map(directives.map((directive, index) => [directive, found[index + 1] ?? '']));
  const number = (directive: string): number | undefined =>
    part.has(directive) ? Number(part.get(directive)) : undefined;
  const month = part.has('b')
    ? MONTHS.findIndex((name) => name.toLowerCase() === part.get('b')?.toLowerCase())
    : (number('m') ?? 1) - 1;
  const year = number('Y') ?? 2_000 + (number('y') ?? 0);
  const isPm = part.get('p')?.toLowerCase() === 'pm';
  const hour = number('H') ?? ((number('I') ?? 0) % 12) + (isPm ? 12 : 0);
  const fraction = part.get('L') ?? part.get('f') ?? part.get('N') ?? '0';
  const ms = Math.floor(Number(`0.${fraction}`) * 1_000 + 1e-6);
  const day = number('d') ?? 1;
  const local = Date.UTC(year, month, day, hour, number('M') ?? 0, number('S') ?? 0, ms);
  // `Date.UTC` takes the 31st of February for a day in March.
  if (month < 0 || month > 11 || new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return Number.NaN;
  const offset = part.get('z') ?? part.get(':z');
  return offset === undefined ? fromLocal(local, zone) : local - offsetOf(offset);
}

function offsetOf(text: string): number {
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
}

interface Compiled {
  expression: RegExp;
  directives: readonly string[];
}

/** Patterns come from the catalog, so there are few. */
const cache = new Map<string, Compiled>();

function compiled(pattern: string): Compiled {
  const known = cache.get(pattern);
  if (known) return known;
  const directives: string[] = [];
  const compact = isCompact(pattern);
  const parts = pattern.split(/(%:z|%[A-Za-z%])/).map((piece) => {
    const directive = piece.slice(1);
    if (piece === '%%') return '%';
    if (!piece.startsWith('%') || PARTS[directive] === undefined)
      return piece.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    directives.push(directive);
    return `(${compact && /^[mdHI]$/.test(directive) ? String.raw`\d{2}` : PARTS[directive]})`;
  });
  const result = { expression: new RegExp(`^${parts.join('')}$`), directives };
  cache.set(pattern, result);
  return result;
}
