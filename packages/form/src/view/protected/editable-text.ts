import type { NativeControl } from './native-control.js';
import type { TextState } from './text-edit.js';

/** The text and the selection of a native control, edited by script, with an undo history. */
export class EditableText {
  readonly #control: NativeControl;
  #past: TextState[] = [];
  #future: TextState[] = [];

  constructor(control: NativeControl) {
    this.#control = control;
  }

  get state(): TextState {
    const { value: text, selectionStart, selectionEnd, selectionDirection } = this.#control;
    const [start, end] = [selectionStart ?? text.length, selectionEnd ?? text.length];
    return selectionDirection === 'backward'
      ? { text, anchor: end, caret: start }
      : { text, anchor: start, caret: end };
  }

  /** Replaces the text and clears the history. */
  reset(text: string): void {
    this.#control.value = text;
    [this.#past, this.#future] = [[], []];
  }

  /**
   * Replaces text and selection. Returns whether the text changed.
   *
   * @param remember whether a change of the text is added to the history
   */
  update({ text, anchor, caret }: TextState, remember: boolean): boolean {
    const before = this.state;
    const isChanged = text !== before.text;
    if (isChanged) {
      if (remember) {
        this.#past.push(before);
        this.#future = [];
      }
      this.#control.value = text;
    }
    this.#control.setSelectionRange(
      Math.min(anchor, caret),
      Math.max(anchor, caret),
      caret < anchor ? 'backward' : 'forward',
    );
    return isChanged;
  }

  /**
   * Moves one step through the history. Returns the state to apply without adding it to the
   * history, or undefined if there is none.
   */
  step(direction: 'undo' | 'redo'): TextState | undefined {
    const [from, to] = direction === 'redo' ? [this.#future, this.#past] : [this.#past, this.#future];
    const target = from.pop();
    if (target) to.push(this.state);
    return target;
  }
}
