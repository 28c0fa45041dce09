import { describe, expect, it } from 'vitest';
import { contrast, type Color } from './color.js';
import { deriveTokens, schemeOf, type GivenTokens } from './derive-tokens.js';
import { TOKEN_NAMES, type TokenName, type Tokens } from './tokens.js';

/** Parses `#rrggbb` or `#rgb`. */
function color(hex: string): Color {
  const digits = hex.slice(1).length === 3 ? hex.slice(1).replaceAll(/./g, '$&$&') : hex.slice(1);
  const value = Number.parseInt(digits.slice(0, 6), 16);
  return [value >> 16, (value >> 8) & 255, value & 255, 1];
}

/** Minimum contrast ratio of each foreground token on its backgrounds. */
const RULES: readonly [front: TokenName, backs: readonly TokenName[], ratio: number][] = [
  ['text', ['surface', 'field', 'kept', 'hover', 'raised', 'danger-fill', 'success-fill'], 4.5],
  ['muted', ['surface', 'field', 'kept', 'hover', 'raised', 'danger-fill', 'success-fill'], 4.5],
  ['link', ['surface', 'field', 'kept', 'hover'], 4.5],
  ['placeholder', ['field'], 4.5],
  ['on-primary', ['primary', 'primary-hover'], 4.5],
  ['danger', ['surface', 'field', 'danger-fill'], 4.5],
  ['success', ['surface', 'field', 'success-fill'], 4.5],
  ['border-strong', ['surface', 'field'], 3],
  ['focus', ['surface', 'field'], 3],
];

const shortfalls = (tokens: Tokens): string[] =>
  RULES.flatMap(([front, backs, ratio]) =>
    backs
      .filter((back) => contrast(color(tokens[front]), color(tokens[back])) < ratio)
      .map((back) => `${front} ${tokens[front]} on ${back} ${tokens[back]}`),
  );

/** A seeded generator: the failure message names the seed that reproduces it. */
const randomOf = (seed: number) => (): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

describe('deriveTokens', () => {
  it.each(['light', 'dark'] as const)('default colors have sufficient contrast in %s', (scheme) => {
    const tokens = deriveTokens({}, scheme);
    expect(shortfalls(tokens)).toEqual([]);
    expect(tokens.background).toBe('transparent');
    expect(Object.keys(tokens).toSorted()).toEqual(TOKEN_NAMES.toSorted());
  });

  it('matches the designed colors', () => {
    expect(deriveTokens({}, 'light')).toMatchObject({
      primary: '#4f46e5',
      'on-primary': '#ffffff',
      text: '#171923',
      danger: '#c62f2f',
      border: '#d9dce3',
    });
    expect(deriveTokens({}, 'dark')).toMatchObject({
      primary: '#8b8cf8',
      'on-primary': '#14161c',
      text: '#eceef4',
      danger: '#ff8a80',
      border: '#343845',
    });
  });

  it('keeps the primary color and adjusts text colors for contrast', () => {
    const tokens = deriveTokens({ primary: color('#ffd400') }, 'light');
    expect(tokens.primary).toBe('#ffd400');
    expect(tokens.link).not.toBe('#ffd400');
    expect(shortfalls(tokens)).toEqual([]);
  });

  it('has sufficient contrast for random colors of the host', () => {
    for (let seed = 0; seed < 2_000; seed += 1) {
      const random = randomOf(seed);
      const any = (share: number): Color | undefined =>
        random() < share ? [random() * 255, random() * 255, random() * 255, random() < 0.8 ? 1 : random()] : undefined;
      const given: GivenTokens = { background: any(0.7), text: any(0.5), primary: any(0.7), border: any(0.5) };
      const page = random() < 0.5 ? 'light' : 'dark';
      expect(shortfalls(deriveTokens(given, schemeOf(given, page))), `seed ${seed}`).toEqual([]);
    }
  });

  it('has sufficient contrast on every gray', () => {
    for (let level = 0; level < 256; level += 1) {
      const given: GivenTokens = { background: [level, level, level, 1] };
      expect(shortfalls(deriveTokens(given, schemeOf(given, 'light'))), `gray ${level}`).toEqual([]);
    }
  });
});

describe('schemeOf', () => {
  it('follows the background, then the text color, then the page', () => {
    expect(schemeOf({ background: color('#111') }, 'light')).toBe('dark');
    expect(schemeOf({ background: color('#fafafa'), text: color('#fff') }, 'dark')).toBe('light');
    expect(schemeOf({ text: color('#fff') }, 'light')).toBe('dark');
    expect(schemeOf({ text: color('#777') }, 'light')).toBe('light');
    expect(schemeOf({ primary: color('#fff') }, 'dark')).toBe('dark');
  });
});
