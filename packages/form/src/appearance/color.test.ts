import { describe, expect, it } from 'vitest';
import { contrast, isColor, mix, readSrgb, toHex, WHITE, type Color } from './color.js';

describe('isColor', () => {
  it.each([
    '#abc',
    '#ABCD',
    '#4f46e5',
    '#4f46e580',
    'rgb(79 70 229)',
    'rgb(79, 70, 229)',
    'rgba(79,70,229,.5)',
    'RGB(100% 0% 0% / 50%)',
    'hsl(243 75% 59%)',
    'hsla(-117deg, 75%, 59%, 1)',
    'oklch(0.628 0.2577 29.23)',
    'oklch(100% 0 none / 40%)',
    'RebeccaPurple',
    'transparent',
  ])('accepts %s', (css) => {
    expect(isColor(css)).toBe(true);
  });

  it.each([
    '',
    '#12',
    '#ggg',
    '#123456789',
    'var(--x)',
    'env(safe-area-inset-top)',
    'attr(data-x)',
    'url(https://evil.example/x)',
    'rgb(var(--r) 0 0)',
    'rgb(calc(1) 0 0)',
    'rgb(from red r g b)',
    'color-mix(in srgb, red, blue)',
    'color(srgb 1 0 0)',
    'light-dark(red, blue)',
    'lab(50% 40 59)',
    'red; background: url(x)',
    'red}',
    'rgb(0 0 0)}*{color:red',
    'red, red) , url(x',
    'inherit',
    'currentColor',
    'revert-layer',
    '__proto__',
    '#fff /* */',
    'rgb(0 0 0 / 1) !important',
    'hsl(0 0% 0%',
    'r\\65 d',
  ])('rejects %j', (css) => {
    expect(isColor(css)).toBe(false);
  });

  it('rejects very long text', () => {
    for (const css of ['x'.repeat(100_000), `rgb(${'1 '.repeat(50_000)})`, `#${'f'.repeat(100_000)}`])
      expect(isColor(css)).toBe(false);
  });

  it('accepts only one color function or name, for random text', () => {
    const signs = 'rgbhslokch()#%,/ .0123456789-var;{}\\"\'*';
    for (let round = 0; round < 20_000; round += 1) {
      const length = 1 + (round % 24);
      const css = Array.from({ length }, () => signs[Math.floor(Math.random() * signs.length)]).join('');
      if (isColor(css)) expect(css).toMatch(/^(?:#[\da-f]+|[a-z]+(?:\([^()]*\))?)$/i);
    }
  });
});

describe('readSrgb', () => {
  it.each([
    ['color(srgb 0.309804 0.27451 0.898039)', '#4f46e5'],
    ['color(srgb 1 0 0 / 0.5)', '#ff000080'],
    ['color(srgb 1.2 -0.1 none)', '#ff0000'],
  ])('reads %s', (css, hex) => {
    const color = readSrgb(css);
    expect(color && toHex(color)).toBe(hex);
  });

  it.each(['', 'rgb(1, 2, 3)', 'color(display-p3 1 0 0)', 'color(srgb x y z)'])('rejects %j', (css) => {
    expect(readSrgb(css)).toBeUndefined();
  });
});

describe('contrast', () => {
  it('matches WCAG', () => {
    const gray: Color = [118, 118, 118, 1];
    expect(contrast(gray, WHITE)).toBeCloseTo(4.54, 2);
    expect(contrast(WHITE, [0, 0, 0, 1])).toBe(21);
    expect(toHex(mix(gray, WHITE, 0.5))).toBe('#bbbbbb');
  });
});
