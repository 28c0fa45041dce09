/**
 * Edits of a text and its selection, as pure functions. A secret control uses them instead of
 * native edits: after a native edit, the browser scrolls the caret into view across the frame's
 * border, so the host page could observe each key press (`secret-control.ts`).
 */

/**
 * A text with a selection in UTF-16 offsets. `anchor` is where the selection began, `caret` where
 * it ends and the caret is drawn.
 */
export interface TextState {
  text: string;
  anchor: number;
  caret: number;
}

/** A caret movement requested by a key press. */
export interface Move {
  key: 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End' | 'PageUp' | 'PageDown';
  /** Keeps the anchor, so that the selection is extended. */
  extend: boolean;
  /** By a whole word. */
  word: boolean;
  /** To the start or end of the line; with Home, End and vertical keys, of the text. */
  far: boolean;
}

/** The lines of a text, for moving the caret. */
export interface Lines {
  /**
   * Returns the offsets of the start and end of the line that contains `offset`, without line
   * breaks.
   */
  around(offset: number): { start: number; end: number };
  /**
   * Returns the offset `lines` lines below (negative: above) in the same column, or the start or
   * end of the text if there is no such line.
   */
  below(offset: number, lines: number): number;
}

const ASCII = /^[\n\x20-\x7e]*$/;

let segmented: { text: string; offsets: readonly number[] } | undefined;

/** Returns the offsets of the grapheme cluster boundaries in `text`, including 0 and its length. */
export function boundaries(text: string): readonly number[] {
  if (segmented?.text === text) return segmented.offsets;
  const offsets: number[] = [];
  if (ASCII.test(text)) for (let index = 0; index <= text.length; index += 1) offsets.push(index);
  else {
    for (const { index } of new Intl.Segmenter().segment(text)) offsets.push(index);
    offsets.push(text.length);
  }
  segmented = { text, offsets };
  return offsets;
}

/** Returns the boundary before (-1) or after (1) an offset. */
function nextBoundary(text: string, offset: number, step: -1 | 1): number {
  const offsets = boundaries(text);
  return step > 0
    ? (offsets.find((at) => at > offset) ?? text.length)
    : (offsets[offsets.findIndex((at) => at >= offset) - 1] ?? 0);
}

const WORDS = /[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]+/gu;

/**
 * Returns the start of the word before an offset (-1), or the end of the word after it (1). A
 * masked text has no words: a move by word would reveal where they end.
 */
function nextWord(text: string, offset: number, step: -1 | 1, masked: boolean): number {
  const words = masked ? [] : [...text.matchAll(WORDS)];
  return step > 0
    ? (words.map(({ index, 0: word }) => index + word.length).find((end) => end > offset) ?? text.length)
    : (words.findLast(({ index }) => index < offset)?.index ?? 0);
}

/** Replaces the selection with `inserted`. */
export function insertText({ text, anchor, caret }: TextState, inserted: string): TextState {
  const [start, end] = [Math.min(anchor, caret), Math.max(anchor, caret)];
  const at = start + inserted.length;
  return { text: text.slice(0, start) + inserted + text.slice(end), anchor: at, caret: at };
}

/**
 * Deletes as an `input` event of this type would:
 * https://w3c.github.io/input-events/#interface-InputEvent-Attributes
 *
 * @param inputType an input type that begins with `delete`
 */
export function deleteText(state: TextState, inputType: string, lines: Lines, masked: boolean): TextState {
  const { text, anchor, caret } = state;
  if (anchor !== caret || /Cut|Drag|deleteContent$/.test(inputType)) return insertText(state, '');
  const step = inputType.endsWith('Forward') ? 1 : -1;
  const line = lines.around(caret);
  const to = inputType.includes('Word')
    ? nextWord(text, caret, step, masked)
    : inputType.includes('Line')
      ? step > 0
        ? line.end
        : line.start
      : nextBoundary(text, caret, step);
  return insertText({ text, anchor: to, caret }, '');
}

/** Moves the caret or, with `extend`, the end of the selection. */
export function moveCaret({ text, anchor, caret }: TextState, move: Move, lines: Lines, masked: boolean): TextState {
  const { key, extend, word, far } = move;
  const to = ((): number => {
    switch (key) {
      case 'ArrowLeft':
      case 'ArrowRight': {
        const step = key === 'ArrowLeft' ? -1 : 1;
        if (far) return step < 0 ? lines.around(caret).start : lines.around(caret).end;
        if (word) return nextWord(text, caret, step, masked);
        if (anchor !== caret && !extend) return step < 0 ? Math.min(anchor, caret) : Math.max(anchor, caret);
        return nextBoundary(text, caret, step);
      }
      case 'Home':
        return far ? 0 : lines.around(caret).start;
      case 'End':
        return far ? text.length : lines.around(caret).end;
      default: {
        const down = key === 'ArrowDown' || key === 'PageDown';
        if (far) return down ? text.length : 0;
        return lines.below(caret, (down ? 1 : -1) * (key.startsWith('Page') ? 4 : 1));
      }
    }
  })();
  return { text, anchor: extend ? anchor : to, caret: to };
}
