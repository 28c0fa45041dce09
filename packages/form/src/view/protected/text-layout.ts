import { boundaries, type Lines } from './text-edit.js';

/** One drawn line. */
export interface Line {
  /** Offsets in the text; a line break belongs to no line. */
  start: number;
  end: number;
  /** Its characters, each with its first column. */
  cells: readonly { start: number; end: number; column: number; width: number }[];
}

/** A text laid out in a grid of columns. */
export interface TextLayout extends Lines {
  lines: readonly Line[];
  /** Returns the line and column at which a caret at `offset` is drawn. */
  placeOf(offset: number): { line: number; column: number };
  /** Returns the offset nearest to a position, which may be outside the text. */
  offsetAt(line: number, column: number): number;
}

/**
 * Returns how many columns a character takes, from its drawn width: two for full-width letters and
 * emoji.
 */
export type ColumnsOf = (character: string) => number;

/**
 * Lays out `text` in lines of at most `columns` columns.
 *
 * @param columns `Infinity` for a single-line control
 * @param columnsOf columns of a character; 1 for every character of a masked text
 */
export function layoutText(text: string, columns: number, columnsOf: ColumnsOf): TextLayout {
  const lines: Line[] = [];
  let start = 0;
  let cells: { start: number; end: number; column: number; width: number }[] = [];
  let column = 0;
  const close = (end: number): void => {
    lines.push({ start, end, cells });
    cells = [];
    column = 0;
  };
  const offsets = boundaries(text);
  for (let index = 0; index + 1 < offsets.length; index += 1) {
    const [from = 0, to = 0] = [offsets[index], offsets[index + 1]];
    const character = text.slice(from, to);
    if (character === '\n' || character === '\r\n') {
      close(from);
      start = to;
      continue;
    }
    const width = columnsOf(character);
    if (column + width > columns && cells.length > 0) {
      close(from);
      start = from;
    }
    cells.push({ start: from, end: to, column, width });
    column += width;
  }
  close(text.length);

  const lineOf = (offset: number): number => lines.findLastIndex((line) => line.start <= offset);
  const columnOf = (line: Line | undefined, offset: number): number => {
    const last = line?.cells.at(-1);
    return line?.cells.find((cell) => cell.end > offset)?.column ?? (last ? last.column + last.width : 0);
  };
  const placeOf: TextLayout['placeOf'] = (offset) => {
    const line = lineOf(offset);
    return { line, column: columnOf(lines[line], offset) };
  };
  const offsetAt: TextLayout['offsetAt'] = (line, column) => {
    if (line < 0) return 0;
    const found = lines[line];
    if (!found) return text.length;
    return found.cells.find((cell) => cell.column + cell.width / 2 > column)?.start ?? found.end;
  };
  return {
    lines,
    placeOf,
    offsetAt,
    around(offset) {
      // Uses the lines as typed: where a long line wraps, one offset would have two positions.
      const end = text.indexOf('\n', offset);
      return { start: offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1, end: end < 0 ? text.length : end };
    },
    below(offset, count) {
      const { line, column } = placeOf(offset);
      return offsetAt(line + count, column);
    },
  };
}
