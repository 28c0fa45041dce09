import { describe, expect, it } from 'vitest';
import { readAppearance } from './read-appearance.js';

const COLORS = new Map([
  ['#4f46e5', 'color(srgb 0.309804 0.27451 0.898039)'],
  ['rgb(0 0 0 / 0)', 'color(srgb 0 0 0 / 0)'],
]);
/** Fakes the browser's color serialization. */
const resolve = (css: string): string => COLORS.get(css) ?? '';

const read = (appearance: unknown) => {
  const warnings: string[] = [];
  return {
    given: readAppearance(appearance, resolve, (message) => warnings.push(message)),
    warnings,
  };
};

describe('readAppearance', () => {
  it('accepts valid values without a warning', () => {
    const { given, warnings } = read({
      colorPrimary: '#4f46e5',
      fontFamily: `"Inter", 'Söhne Buch', system-ui, Segoe UI, sans-serif`,
      borderRadius: '10px',
    });
    expect(given.primary?.map(Math.round)).toEqual([79, 70, 229, 1]);
    expect(given.radius).toBe('10px');
    expect(given.font).toContain('Söhne');
    expect(warnings).toEqual([]);
  });

  it('drops invalid values with one warning each', () => {
    const { given, warnings } = read({ colorPrimary: 'url(//x)', colorBorder: 'nocolor', borderRadius: 'calc(1px)' });
    expect(given).toEqual({});
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toMatch(/^appearance\.colorPrimary takes a color /);
  });

  it.each([
    undefined,
    null,
    7,
    'red',
    [],
    { colorPrimary: 7 },
    { colorPrimary: {} },
    Object.create({ colorPrimary: '#4f46e5' }),
  ])('ignores %j', (appearance) => {
    expect(read(appearance).given.primary).toBeUndefined();
  });

  it('ignores very long text', () => {
    expect(read({ fontFamily: 'a'.repeat(100_000) }).given.font).toBeUndefined();
  });

  it('ignores a transparent background', () => {
    expect(read({ colorBackground: 'rgb(0 0 0 / 0)' }).given.background).toBeUndefined();
  });

  it.each(['Inter; color: red', 'url(x)', '"unclosed', `"a" 'b'`, 'a,,b', 'a}', 'expression(1)', '\\62', 'a/*', ''])(
    'rejects the font %s',
    (fontFamily) => {
      expect(read({ fontFamily }).given.font).toBeUndefined();
    },
  );

  it.each(['10', '-1px', '1vw', '10px 4px', 'var(--r)', '99999px', 'px', '1px;'])(
    'rejects the radius %s',
    (borderRadius) => {
      expect(read({ borderRadius }).given.radius).toBeUndefined();
    },
  );

  it.each(['0', '.5rem', '1.25em', '50%', '6pt'])('accepts the radius %s', (borderRadius) => {
    expect(read({ borderRadius }).given.radius).toBe(borderRadius);
  });
});
