/** Color parsing (only the notations that hosts may use), mixing, and WCAG 2 contrast. */

/** Red, green, blue from 0 to 255, and opacity from 0 to 1. */
export type Color = readonly [red: number, green: number, blue: number, alpha: number];

export const BLACK: Color = [0, 0, 0, 1];
export const WHITE: Color = [255, 255, 255, 1];

/**
 * Matches hex, `rgb()`, `hsl()` and `oklch()` with plain numbers, and color names. The browser's
 * own CSS grammar would also accept `var()`, `env()` and `url()`. A match is either a color or
 * invalid CSS.
 */
const COLOR = /^(?:#[\da-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/+a-z-]{5,64}\)|oklch\([\d\s.%/+a-z-]{5,64}\)|[a-z]{3,24})$/i;

/** Words inside a color function. Allowed are only its name, the unit `deg`, and `none`. */
const WORDS = /[a-z]{2,}/gi;
const WORD = /^(?:rgba?|hsla?|oklch|deg|none)$/i;

/** Keywords that do not name a color but take it from elsewhere. */
const KEYWORD = /^(?:inherit|initial|unset|revert|currentcolor)$/i;

/** Returns whether `css` is in one of the notations that hosts may use. */
export const isColor = (css: string): boolean =>
  COLOR.test(css) &&
  !KEYWORD.test(css) &&
  (!css.includes('(') || (css.match(WORDS) ?? []).every((word) => WORD.test(word)));

/**
 * Parses `color(srgb 0.3 0.27 0.9 / 0.5)`, the browser's serialization of a color mixed in sRGB.
 * Clamps out-of-gamut channels. Returns undefined for any other notation.
 */
export function readSrgb(css: string): Color | undefined {
  const [red, green, blue, alpha = 1] = (/^color\(srgb ([^)]+)\)$/.exec(css)?.[1] ?? '')
    .split(/[\s/]+/)
    .map((part) => Math.min(1, Math.max(0, part === 'none' ? 0 : Number.parseFloat(part))));
  return red === undefined || green === undefined || blue === undefined || Number.isNaN(red + green + blue + alpha)
    ? undefined
    : [red * 255, green * 255, blue * 255, alpha];
}

/** Mixes `share` (0 to 1) of `a` with `b`; the result is opaque. */
export function mix(a: Color, b: Color, share: number): Color {
  const at = (index: 0 | 1 | 2): number => a[index] * share + b[index] * (1 - share);
  return [at(0), at(1), at(2), 1];
}

/** Formats a color as `#rrggbb`, or as `#rrggbbaa` if it is translucent. */
export const toHex = ([red, green, blue, alpha]: Color): string =>
  `#${[red, green, blue, ...(alpha < 1 ? [alpha * 255] : [])]
    .map((value) => Math.round(value).toString(16).padStart(2, '0'))
    .join('')}`;

function linear(value: number): number {
  const part = Math.round(value) / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

const luminance = ([red, green, blue]: Color): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

/** Returns the WCAG 2 contrast ratio, from 1 to 21. */
export function contrast(a: Color, b: Color): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
