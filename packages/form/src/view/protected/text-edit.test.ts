import { describe, expect, it } from 'vitest';
import { boundaries, deleteText, insertText, moveCaret, type Move, type TextState } from './text-edit.js';
import { layoutText } from './text-layout.js';

/** Parses a text with `|` at the caret and, if the selection began elsewhere, `^` at the anchor. */
function parse(shown: string): TextState {
  const text = shown.replaceAll(/[|^]/g, '');
  const caret = shown.replace('^', '').indexOf('|');
  const anchor = shown.includes('^') ? shown.replace('|', '').indexOf('^') : caret;
  return { text, anchor, caret };
}

function show({ text, anchor, caret }: TextState): string {
  const marks = [{ at: caret, mark: '|' }, ...(anchor === caret ? [] : [{ at: anchor, mark: '^' }])].toSorted(
    (one, other) => other.at - one.at,
  );
  return marks.reduce((marked, { at, mark }) => marked.slice(0, at) + mark + marked.slice(at), text);
}

const layout = (text: string, columns = Infinity) => layoutText(text, columns, () => 1);
const move = (shown: string, key: Move['key'], how: Partial<Move> = {}, masked = false): string => {
  const state = parse(shown);
  return show(moveCaret(state, { key, extend: false, word: false, far: false, ...how }, layout(state.text), masked));
};
const remove = (shown: string, inputType: string, masked = false): string => {
  const state = parse(shown);
  return show(deleteText(state, inputType, layout(state.text), masked));
};

describe('insertText', () => {
  it.each([
    ['|', 'a', 'a|'],
    ['ab|cd', 'X', 'abX|cd'],
    ['a^bc|d', 'X', 'aX|d'],
    ['a|bc^d', 'XY', 'aXY|d'],
    ['ab^cd|', '', 'ab|'],
  ])('in %s, inserts %s: %s', (before, text, after) => {
    expect(show(insertText(parse(before), text))).toBe(after);
  });
});

describe('deleteText', () => {
  it.each([
    ['ab|c', 'deleteContentBackward', 'a|c'],
    ['ab|c', 'deleteContentForward', 'ab|'],
    ['|abc', 'deleteContentBackward', '|abc'],
    ['abc|', 'deleteContentForward', 'abc|'],
    ['a^b|c', 'deleteContentBackward', 'a|c'],
    ['a|b^c', 'deleteWordForward', 'a|c'],
    ['one two|', 'deleteWordBackward', 'one |'],
    ['|one two', 'deleteWordForward', '| two'],
    ['one\ntwo three|', 'deleteSoftLineBackward', 'one\n|'],
    ['one\nt|wo\nthree', 'deleteHardLineForward', 'one\nt|\nthree'],
    ['a^b|c', 'deleteByCut', 'a|c'],
    ['ab|c', 'deleteByCut', 'ab|c'],
    // A grapheme cluster is one character.
    ['a👩‍👩‍👧|', 'deleteContentBackward', 'a|'],
    ['e\u0301|', 'deleteContentBackward', '|'],
  ])('in %s, %s: %s', (before, inputType, after) => {
    expect(remove(before, inputType)).toBe(after);
  });

  it('treats masked text as one word', () => {
    expect(remove('one two|', 'deleteWordBackward', true)).toBe('|');
    expect(move('one two|', 'ArrowLeft', { word: true }, true)).toBe('|one two');
  });
});

describe('moveCaret', () => {
  it.each<[string, Move['key'], Partial<Move>, string]>([
    ['ab|', 'ArrowLeft', {}, 'a|b'],
    ['|ab', 'ArrowLeft', {}, '|ab'],
    ['ab|', 'ArrowRight', {}, 'ab|'],
    ['a^b|c', 'ArrowLeft', {}, 'a|bc'],
    ['a^b|c', 'ArrowRight', {}, 'ab|c'],
    ['a^b|c', 'ArrowRight', { extend: true }, 'a^bc|'],
    ['a|b^c', 'ArrowRight', { extend: true }, 'ab|c'],
    ['one two|', 'ArrowLeft', { word: true }, 'one |two'],
    ['|one two', 'ArrowRight', { word: true }, 'one| two'],
    ['one\nt|wo', 'ArrowLeft', { far: true }, 'one\n|two'],
    ['one\nt|wo', 'Home', {}, 'one\n|two'],
    ['one\nt|wo', 'Home', { far: true }, '|one\ntwo'],
    ['o|ne\ntwo', 'End', {}, 'one|\ntwo'],
    ['o|ne\ntwo', 'End', { far: true }, 'one\ntwo|'],
    ['abc\nde|f', 'ArrowUp', {}, 'ab|c\ndef'],
    ['ab|c\nd', 'ArrowDown', {}, 'abc\nd|'],
    ['ab|c', 'ArrowUp', {}, '|abc'],
    ['ab|c', 'ArrowDown', {}, 'abc|'],
    ['ab|c', 'End', { extend: true }, 'ab^c|'],
  ])('in %j, moves by %s %j', (before, key, how, after) => {
    expect(move(before, key, how)).toBe(after);
  });
});

describe('boundaries', () => {
  it('are those of grapheme clusters, with start and end', () => {
    expect(boundaries('ab')).toEqual([0, 1, 2]);
    expect(boundaries('')).toEqual([0]);
    expect(boundaries('a🙂e\u0301')).toEqual([0, 1, 3, 5]);
    expect(boundaries('Жх漢')).toEqual([0, 1, 2, 3]);
  });
});
