import { layoutText, type TextLayout } from './text-layout.js';
import type { TextState } from './text-edit.js';

/** The state that a screen draws. */
export interface ScreenState extends TextState {
  masked: boolean;
  multiline: boolean;
  /** Whether the caret and the selection are drawn. */
  focused: boolean;
  /** Whether the blinking caret is on. */
  caretOn: boolean;
}

/**
 * Returns the first of `count` + 1 visible positions, moved from `first` only as far as needed to
 * include `at`.
 */
const bring = (at: number, first: number, count: number): number => Math.max(Math.min(first, at), at - count, 0);

/** Padding beside the text, and above it in a multi-line control, in CSS pixels. */
const INSET = 12;

/**
 * Draws the text of a secret control on a canvas. Pixels are neither text nor layout: drawing
 * changes no box and requests no font of the page, and the document contains no copy of the secret.
 */
export class SecretScreen {
  readonly #canvas: HTMLCanvasElement;
  #context: CanvasRenderingContext2D | null | undefined;
  #layout: TextLayout = layoutText('', Infinity, () => 1);
  #laidOut = '';
  #cell = 8;
  #lineHeight = 20;
  #top = 0;
  /** First line and column in view. */
  #first = { line: 0, column: 0 };

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  /** Layout of the text last drawn. */
  get layout(): TextLayout {
    return this.#layout;
  }

  /** Returns the text offset nearest to a point, in CSS pixels from the canvas's corner. */
  offsetAt(x: number, y: number): number {
    const line = Math.floor((y - this.#top) / this.#lineHeight) + this.#first.line;
    const last = this.#layout.lines.length - 1;
    return this.#layout.offsetAt(Math.min(line, last), (x - INSET) / this.#cell + this.#first.column);
  }

  draw(state: ScreenState): void {
    // A control that shows neither text nor caret has nothing to draw. Its context would take
    // milliseconds of the form's first paint.
    if (!(this.#context || state.focused || state.text)) return;
    const context = (this.#context ??= this.#canvas.getContext('2d'));
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (!context || width === 0) return;
    const ratio = devicePixelRatio;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);

    const style = getComputedStyle(this.#canvas);
    const size = Number.parseFloat(style.fontSize) || 14;
    // A generic family, which no `@font-face` of the page can override.
    context.font = `${size}px monospace`;
    context.textBaseline = 'middle';
    this.#cell = context.measureText('0').width;
    this.#lineHeight = Number.parseFloat(style.lineHeight) || 20;
    const { masked, multiline, text } = state;
    const columns = Math.max(1, Math.floor((width - 2 * INSET) / this.#cell));
    const rows = multiline ? Math.max(1, Math.floor((height - INSET) / this.#lineHeight)) : 1;
    this.#top = multiline ? INSET - 3 : (height - this.#lineHeight) / 2;
    this.#lay(text, multiline ? columns : Infinity, masked, context);
    this.#scroll(state, columns, rows);

    context.beginPath();
    context.rect(INSET - 2, 0, width - 2 * INSET + 4, height);
    context.clip();
    this.#paint(context, state, rows, { color: style.color, selection: style.borderTopColor, size });
  }

  #lay(text: string, columns: number, masked: boolean, context: CanvasRenderingContext2D): void {
    const key = `${columns} ${masked} ${text}`;
    if (key === this.#laidOut) return;
    this.#laidOut = key;
    const cell = this.#cell;
    const columnsOf = (character: string): number => (context.measureText(character).width > 1.5 * cell ? 2 : 1);
    this.#layout = layoutText(text, columns, masked ? () => 1 : columnsOf);
  }

  /** Scrolls the caret into view, on the canvas only. */
  #scroll({ caret, focused }: ScreenState, columns: number, rows: number): void {
    const { line, column } = focused ? this.#layout.placeOf(caret) : { line: 0, column: 0 };
    const first = this.#first;
    this.#first = { line: bring(line, first.line, rows - 1), column: bring(column, first.column, columns) };
    if (this.#layout.lines.length > 1) this.#first.column = 0;
  }

  #paint(
    context: CanvasRenderingContext2D,
    { anchor, caret, masked, focused, caretOn, text }: ScreenState,
    rows: number,
    { color, selection, size }: { color: string; selection: string; size: number },
  ): void {
    const [start, end] = [Math.min(anchor, caret), Math.max(anchor, caret)];
    const x = (column: number): number => INSET + (column - this.#first.column) * this.#cell;
    const y = (line: number): number => this.#top + (line - this.#first.line) * this.#lineHeight;
    const lines = this.#layout.lines.slice(this.#first.line, this.#first.line + rows);
    for (const [index, { cells }] of lines.entries()) {
      const top = y(index + this.#first.line);
      const middle = top + this.#lineHeight / 2;
      for (const cell of cells) {
        const left = x(cell.column);
        if (left > this.#canvas.clientWidth) break;
        if (left < 0) continue;
        if (focused && cell.start >= start && cell.start < end) {
          context.fillStyle = selection;
          context.fillRect(left, top, cell.width * this.#cell, this.#lineHeight);
        }
        context.fillStyle = color;
        if (masked) {
          context.beginPath();
          context.arc(left + this.#cell / 2, middle, size / 5, 0, 2 * Math.PI);
          context.fill();
        } else context.fillText(text.slice(cell.start, cell.end), left, middle);
      }
    }
    if (!focused || !caretOn || start !== end) return;
    const place = this.#layout.placeOf(caret);
    context.fillStyle = color;
    context.fillRect(Math.round(x(place.column)) - 0.5, y(place.line) + 2, 1, this.#lineHeight - 4);
  }
}
