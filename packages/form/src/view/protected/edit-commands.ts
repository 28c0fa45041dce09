/** Maps key presses and `input` events of a secret control to edits made by script. */
import { deleteText, insertText, moveCaret, type Lines, type Move, type TextState } from './text-edit.js';

/** How the text is displayed when an edit is applied, which may be later than its event. */
export interface TextDisplay {
  lines: Lines;
  masked: boolean;
}

export type Edit = (state: TextState, display: TextDisplay) => TextState;

const isApple = /^(mac|ip)/i.test(navigator.platform);

const MOVE = /^(Arrow(Left|Right|Up|Down)|Home|End|Page(Up|Down))$/;
const isMove = (key: string): key is Move['key'] => MOVE.test(key);

/** Selects all of the text. */
export const selectAll = ({ text }: TextState): TextState => ({ text, anchor: 0, caret: text.length });

/**
 * Returns the edit that inserts typed or pasted text, or undefined if nothing of it can be
 * inserted.
 */
export function insertion(text: string, multiline: boolean): Edit | undefined {
  const inserted = multiline ? text.replaceAll(/\r\n?/g, '\n') : text.replaceAll(/[\r\n]/g, '');
  // Inserting nothing must not replace the selection: Firefox asks for a line break on Enter in
  // an input, too.
  return inserted ? (state) => insertText(state, inserted) : undefined;
}

const deletion =
  (inputType: string): Edit =>
  (state, { lines, masked }) =>
    deleteText(state, inputType, lines, masked);

/**
 * Returns what a key press does in a control. Undefined if it does nothing, or if the browser
 * handles it.
 */
export function keyCommand(event: KeyboardEvent, multiline: boolean): Edit | 'undo' | 'redo' | 'submit' | undefined {
  const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
  if (event.isComposing) return undefined;
  const command = isApple ? metaKey : ctrlKey;
  const word = isApple ? altKey : ctrlKey;
  if (isMove(key)) {
    const far = isApple ? metaKey : ctrlKey && !/Left|Right/.test(key);
    const move = { key, extend: shiftKey, word, far };
    return (state, { lines, masked }) => moveCaret(state, move, lines, masked);
  }
  if (key === 'Backspace' || key === 'Delete') {
    const unit = isApple && metaKey ? 'SoftLine' : word ? 'Word' : 'Content';
    return deletion(`delete${unit}${key === 'Delete' ? 'Forward' : 'Backward'}`);
  }
  if (command && key === 'a') return selectAll;
  if (command && !altKey && /^[zy]$/i.test(key)) return key.toLowerCase() === 'y' || shiftKey ? 'redo' : 'undo';
  if (key === 'Enter') {
    // An input in a shadow root has no form, so Enter would do nothing.
    if (!multiline) return 'submit';
    return command ? undefined : (state) => insertText(state, '\n');
  }
  return isPrintable(event) ? (state) => insertText(state, key) : undefined;
}

/** Returns what a `beforeinput` event does in a control, or undefined if it inserts nothing. */
export function inputCommand(
  { inputType, data, dataTransfer }: InputEvent,
  multiline: boolean,
): Edit | 'undo' | 'redo' | undefined {
  if (inputType.startsWith('history')) return inputType === 'historyRedo' ? 'redo' : 'undo';
  if (inputType.startsWith('delete')) return deletion(inputType);
  if (inputType === 'insertLineBreak' || inputType === 'insertParagraph') return insertion('\n', multiline);
  return insertion(data ?? dataTransfer?.getData('text/plain') ?? '', multiline);
}

/**
 * Returns whether a key press writes a character. Keys that the browser composes into one (dead
 * keys, input methods) do not.
 */
function isPrintable(event: KeyboardEvent): boolean {
  const { key, altKey, ctrlKey, metaKey } = event;
  const writes = event.getModifierState('AltGraph') || !(altKey || ctrlKey);
  return !metaKey && writes && key !== 'Dead' && Array.from(key).length === 1;
}
