/** Colors as numbers: reading the few notations a host may use, mixing, and the contrast of WCAG 2. */

/** Red, green, blue from 0 to 255, and opacity from 0 to 1. */
export type Color = readonly [red: number, green: number, blue: number, alpha: number];

export const BLACK: Color = [0, 0, 0, 1];
export const WHITE: Color = [255, 255, 255, 1];

const clamp = (value: number, high: number): number => Math.min(high, Math.max(0, value));

/** A number, or a part of `whole` when written with a percent sign; NaN for anything else. */
const read = (text: string, whole: number): number =>
  /^[+-]?(?:\d{1,8}(?:\.\d{0,8})?|\.\d{1,8})(?:%|deg)?$/.test(text)
    ? Number.parseFloat(text) * (text.endsWith('%') ? whole / 100 : 1)
    : NaN;

function fromHex(hex: string): Color | undefined {
  const digits = hex.length < 5 ? hex.replaceAll(/./g, '$&$&') : hex;
  if (!/^(?:[\da-f]{6}|[\da-f]{8})$/i.test(digits)) return undefined;
  const at = (index: number): number => Number.parseInt(digits.slice(index, index + 2) || 'ff', 16);
  return [at(0), at(2), at(4), at(6) / 255];
}

function fromHsl(hue: number, saturation: number, lightness: number): [number, number, number] {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const k = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

function fromOklch(lightness: number, chroma: number, hue: number): [number, number, number] {
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const encode = (linear: number): number =>
    255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055);
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function fromFunction(name: string, parts: readonly string[]): Color | undefined {
  const [a = '', b = '', c = '', alpha = '1', ...more] = parts;
  const model = name.replace(/a$/, '');
  const rgb =
    model === 'rgb'
      ? ([read(a, 255), read(b, 255), read(c, 255)] as const)
      : model === 'hsl'
        ? fromHsl(read(a, NaN), clamp(read(b, 100) / 100, 1), clamp(read(c, 100) / 100, 1))
        : fromOklch(clamp(read(a, 1), 1), clamp(read(b, 0.4), 1), read(c, NaN));
  const color = [...rgb.map((value) => clamp(value, 255)), clamp(read(alpha, 1), 1)];
  const [red = NaN, green = NaN, blue = NaN, opacity = NaN] = color;
  return more.length > 0 || color.some(Number.isNaN) ? undefined : [red, green, blue, opacity];
}

/** Words that look like a color's name and stand for something else. */
const NO_COLOR = /^(?:inherit|initial|unset|revert|currentcolor)$/;

/**
 * Reads hex, `rgb()`, `hsl()`, `oklch()` or a name. Anything else (`var()`, `url()`, `calc()`, a keyword) is undefined. `resolve` says
 * what a name is as `rgb()`, `''` when it is no color.
 */
export function parseColor(css: string, resolve: (name: string) => string): Color | undefined {
  const text = css.trim().toLowerCase();
  if (text.startsWith('#')) return fromHex(text.slice(1));
  const [, name, inner] = /^(rgba?|hsla?|oklch)\(([^()]{1,64})\)$/.exec(text) ?? [];
  if (name !== undefined && inner !== undefined) return fromFunction(name, inner.trim().split(/\s*[\s,/]\s*/));
  if (!/^[a-z]{3,24}$/.test(text) || NO_COLOR.test(text)) return undefined;
  const resolved = resolve(text);
  return resolved.startsWith('rgb') ? parseColor(resolved, () => '') : undefined;
}

/** `share` of `a` over `b`, opaque. */
export function mix(a: Color, b: Color, share: number): Color {
  const at = (index: 0 | 1 | 2): number => a[index] * share + b[index] * (1 - share);
  return [at(0), at(1), at(2), 1];
}

/** `#rrggbb`, with its opacity behind when it has some. */
export const toHex = (color: Color): string =>
  `#${[...color.slice(0, 3), ...(color[3] < 1 ? [color[3] * 255] : [])]
    .map((value) => Math.round(value).toString(16).padStart(2, '0'))
    .join('')}`;

function luminance(color: Color): number {
  const linear = (value: number): number => {
    const part = Math.round(value) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
}

/** From 1 to 21. */
export function contrast(a: Color, b: Color): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
