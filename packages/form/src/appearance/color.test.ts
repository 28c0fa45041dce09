import { describe, expect, it } from 'vitest';
import { contrast, mix, parseColor, toHex, WHITE, type Color } from './color.js';

const resolve = (name: string): string => (name === 'rebeccapurple' ? 'rgb(102, 51, 153)' : '');
const hex = (css: string): string | undefined => {
  const color = parseColor(css, resolve);
  return color && toHex(color);
};

describe('parseColor', () => {
  it.each([
    ['#abc', '#aabbcc'],
    ['#ABCD', '#aabbccdd'],
    ['#4f46e5', '#4f46e5'],
    ['rgb(79 70 229)', '#4f46e5'],
    ['rgb(79, 70, 229)', '#4f46e5'],
    ['rgba(79,70,229,.5)', '#4f46e580'],
    ['rgb(100% 0% 0% / 50%)', '#ff000080'],
    ['hsl(243 75% 59%)', '#5048e5'],
    ['hsl(-117deg, 75%, 59%)', '#5048e5'],
    ['hsla(0, 0%, 100%, 1)', '#ffffff'],
    ['oklch(0.628 0.2577 29.23)', '#ff0000'],
    ['oklch(100% 0 0)', '#ffffff'],
    ['  RebeccaPurple ', '#663399'],
  ])('reads %s', (css, expected) => {
    expect(hex(css)).toBe(expected);
  });

  it.each([
    '',
    '#12',
    '#12345',
    '#ggg',
    'var(--x)',
    'env(x)',
    'attr(data-x)',
    'url(https://evil.example/x)',
    'rgb(var(--r) 0 0)',
    'rgb(calc(1) 0 0)',
    'rgb(1 2)',
    'rgb(1 2 3 4 5)',
    'rgb(1e9 0 0)',
    'color-mix(in srgb, red, blue)',
    'color(srgb 1 0 0)',
    'red; background: url(x)',
    'red}',
    'rgb(0 0 0)}*{color:red',
    'inherit',
    'currentColor',
    'notacolor',
    '__proto__',
    'constructor',
    '#fff /* */',
    'hsl(0 0% 0%',
  ])('refuses %j', (css) => {
    expect(hex(css)).toBeUndefined();
  });

  it('refuses endless text', () => {
    for (const css of ['x'.repeat(100_000), `rgb(${'1 '.repeat(50_000)})`, `#${'f'.repeat(100_000)}`])
      expect(hex(css)).toBeUndefined();
  });

  it('answers for any text, and never with anything but a color', () => {
    const signs = 'rgbhslokch()#%,/ .0123456789abcdef-var;{}'.split('');
    for (let round = 0; round < 5_000; round += 1) {
      const css = Array.from({ length: 1 + (round % 24) }, () => signs[Math.floor(Math.random() * signs.length)]).join(
        '',
      );
      expect(hex(css) ?? '#000000').toMatch(/^#(?:[\da-f]{6}|[\da-f]{8})$/);
    }
  });
});

describe('contrast', () => {
  it('is that of WCAG', () => {
    const gray: Color = [118, 118, 118, 1];
    expect(contrast(gray, WHITE)).toBeCloseTo(4.54, 2);
    expect(contrast(WHITE, [0, 0, 0, 1])).toBe(21);
    expect(toHex(mix(gray, WHITE, 0.5))).toBe('#bbbbbb');
  });
});
