/** A part of a time layout: literal text, or a field with how it is written. */
export type Token = { readonly literal: string } | { readonly field: Field };

export const FIELDS = [
  'year',
  'year2',
  'month',
  'month1',
  'monthName',
  'monthShort',
  'day',
  'day1',
  'dayPadded',
  'dayOfYear',
  'weekday',
  'weekdayShort',
  'hour',
  'hour12',
  'hour12Short',
  'minute',
  'minute1',
  'second',
  'second1',
  'fraction',
  'fractionDigits',
  'amPm',
  'offset',
  'offsetColon',
  'offsetZ',
  'zone',
  'epoch',
] as const;
export type Field = (typeof FIELDS)[number];

/** Layout by the reference time Mon Jan 2 15:04:05 2006 -0700. Longer texts first. */
const REFERENCE: readonly (readonly [text: string, field: Field])[] = [
  ['January', 'monthName'],
  ['Monday', 'weekday'],
  ['Z07:00', 'offsetZ'],
  ['-07:00', 'offsetColon'],
  ['-0700', 'offset'],
  ['2006', 'year'],
  ['002', 'dayOfYear'],
  ['Jan', 'monthShort'],
  ['Mon', 'weekdayShort'],
  ['MST', 'zone'],
  ['.000000000', 'fractionDigits'],
  ['.000000', 'fractionDigits'],
  ['.000', 'fractionDigits'],
  ['.999999999', 'fraction'],
  ['.999999', 'fraction'],
  ['.999', 'fraction'],
  ['01', 'month'],
  ['02', 'day'],
  ['_2', 'dayPadded'],
  ['15', 'hour'],
  ['03', 'hour12'],
  ['04', 'minute'],
  ['05', 'second'],
  ['06', 'year2'],
  ['PM', 'amPm'],
  ['1', 'month1'],
  ['2', 'day1'],
  ['3', 'hour12Short'],
  ['4', 'minute1'],
  ['5', 'second1'],
];

/** Layout by the conversions of strftime. */
const STRFTIME: Readonly<Record<string, Field | readonly string[]>> = {
  Y: 'year',
  y: 'year2',
  m: 'month',
  B: 'monthName',
  b: 'monthShort',
  h: 'monthShort',
  d: 'day',
  e: 'dayPadded',
  j: 'dayOfYear',
  A: 'weekday',
  a: 'weekdayShort',
  H: 'hour',
  I: 'hour12',
  M: 'minute',
  S: 'second',
  p: 'amPm',
  z: 'offset',
  Z: 'zone',
  s: 'epoch',
  F: ['year', '-', 'month', '-', 'day'],
  T: ['hour', ':', 'minute', ':', 'second'],
  D: ['month', '/', 'day', '/', 'year2'],
  R: ['hour', ':', 'minute'],
};

/** A token with the number of digits of a fraction, where that is fixed. */
export type LayoutToken = Token & { readonly digits?: number };

/**
 * Parses a layout: with a percent sign, conversions as of strftime (`%Y-%m-%d %H:%M:%S`, and `%f` or
 * `%L` for fractions of a second); otherwise the reference time (`2006-01-02 15:04:05`).
 * @returns the tokens, or what is wrong with the layout
 */
export function parseLayout(text: string): readonly LayoutToken[] | string {
  const tokens = text.includes('%') ? strftimeTokens(text) : referenceTokens(text);
  if (typeof tokens === 'string') return tokens;
  return tokens.some((token) => 'field' in token) ? tokens : 'It contains no part of a time.';
}

function strftimeTokens(text: string): LayoutToken[] | string {
  const tokens: LayoutToken[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at + 1] ?? '';
    if (text[at] !== '%') tokens.push({ literal: text[at] ?? '' });
    else {
      at += 1;
      const meaning = Object.hasOwn(STRFTIME, letter) ? STRFTIME[letter] : undefined;
      if (letter === '%') tokens.push({ literal: '%' });
      else if (letter === 'f') tokens.push({ field: 'fractionDigits', digits: 6 });
      else if (letter === 'L') tokens.push({ field: 'fractionDigits', digits: 3 });
      else if (meaning === undefined) return `%${letter} is not known.`;
      else if (typeof meaning === 'string') tokens.push({ field: meaning });
      else tokens.push(...meaning.map((part) => (isField(part) ? { field: part } : { literal: part })));
    }
  }
  return tokens;
}

const isField = (text: string): text is Field => FIELDS.some((field) => field === text);

function referenceTokens(text: string): LayoutToken[] {
  const tokens: LayoutToken[] = [];
  for (let at = 0; at < text.length;) {
    const found = REFERENCE.find(([part]) => text.startsWith(part, at));
    if (!found) {
      tokens.push({ literal: text[at] ?? '' });
      at += 1;
      continue;
    }
    const [part, field] = found;
    if (part.startsWith('.')) tokens.push({ literal: '.' }, { field, digits: part.length - 1 });
    else tokens.push({ field });
    at += part.length;
  }
  return tokens;
}
