import { describe, expect, it } from 'vitest';
import { layoutText } from './text-layout.js';

const wide = (character: string): number => (/[\u3000-\u9fff]/.test(character) ? 2 : 1);
const lines = (text: string, columns: number): string[] =>
  layoutText(text, columns, wide).lines.map(({ start, end }) => text.slice(start, end));

describe('layoutText', () => {
  it('wraps at the last column and at line breaks, which belong to no line', () => {
    expect(lines('abcdef', 4)).toEqual(['abcd', 'ef']);
    expect(lines('ab\n\ncdefg', 3)).toEqual(['ab', '', 'cde', 'fg']);
    expect(lines('', 3)).toEqual(['']);
    expect(lines('a\r\nb', 3)).toEqual(['a', 'b']);
    expect(lines('漢字x', 3)).toEqual(['漢', '字x']);
  });

  it('puts a character that is wider than a line on its own line', () => {
    expect(lines('漢字', 1)).toEqual(['漢', '字']);
  });

  it('converts offsets to places and back', () => {
    const text = 'abcd\nefghij';
    const layout = layoutText(text, 4, wide);
    expect(layout.placeOf(0)).toEqual({ line: 0, column: 0 });
    expect(layout.placeOf(4)).toEqual({ line: 0, column: 4 });
    expect(layout.placeOf(5)).toEqual({ line: 1, column: 0 });
    expect(layout.placeOf(11)).toEqual({ line: 2, column: 2 });
    for (const offset of [0, 1, 3, 5, 7, 9, 10]) {
      const { line, column } = layout.placeOf(offset);
      expect(layout.offsetAt(line, column)).toBe(offset);
    }
    expect(layout.offsetAt(-1, 2)).toBe(0);
    expect(layout.offsetAt(9, 0)).toBe(text.length);
    expect(layout.offsetAt(0, 99)).toBe(4);
  });

  it('a click on the right half of a character is after it', () => {
    const layout = layoutText('漢a', Infinity, wide);
    expect(layout.offsetAt(0, 0.9)).toBe(0);
    expect(layout.offsetAt(0, 1.1)).toBe(1);
  });

  it('moves between lines in the same column', () => {
    const layout = layoutText('abcd\nef\nghij', Infinity, wide);
    expect(layout.below(3, 1)).toBe(7);
    expect(layout.below(3, 2)).toBe(11);
    expect(layout.below(10, -2)).toBe(2);
    expect(layout.below(1, -1)).toBe(0);
  });
});
