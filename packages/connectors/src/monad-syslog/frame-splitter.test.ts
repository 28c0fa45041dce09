import { expect, it } from 'vitest';
import { seededRandom } from '@connector-frame/engine/testing';
import { FrameSplitter, MAX_MESSAGE } from './frame-splitter.js';

const counted = (text: string): string => `${Buffer.byteLength(text)} ${text}`;
/** Splits a stream that arrives in chunks of these sizes. */
function split(stream: string | Buffer, size: () => number): { text: string; truncated: boolean }[] {
  const bytes = Buffer.from(stream);
  const splitter = new FrameSplitter();
  const frames = [];
  for (let at = 0; at < bytes.length;) {
    const next = at + Math.max(1, size());
    // Copy the chunk: a reader may reuse its buffer.
    frames.push(...splitter.push(Buffer.from(bytes.subarray(at, next))));
    at = next;
  }
  frames.push(...splitter.end());
  return frames.map((frame) => ({ text: frame.bytes.toString(), truncated: frame.truncated }));
}
const texts = (stream: string, size = () => stream.length) => split(stream, size).map(({ text }) => text);

it.each([
  ['lines', '<1>a\n<2>b\r\n\n<3>c\0\n<4>no end', ['<1>a', '<2>b', '<3>c', '<4>no end']],
  ['counted messages, line breaks in them', counted('<1>a\nb') + counted('<2>ü'), ['<1>a\nb', '<2>ü']],
  ['counted messages with a line end in the count', counted('<1>a\n') + counted('<2>b\r\n'), ['<1>a', '<2>b']],
  ['both, mixed', `<1>a\n${counted('<2>b')}\n<3>c\n${counted('<4>d')}`, ['<1>a', '<2>b', '<3>c', '<4>d']],
  ['lines that begin with a number', '2026 apples\n12 34\n5', ['2026 apples', '12 34', '5']],
])('%s', (_name, stream, messages) => {
  expect(texts(stream)).toEqual(messages);
});

it('finds the same messages however the stream is cut into parts', () => {
  const random = seededRandom(3);
  for (let round = 0; round < 300; round += 1) {
    const messages = Array.from(
      { length: 1 + Math.floor(random() * 12) },
      (_, n) => `<${n}>${'xü<1'.repeat(Math.floor(random() ** 3 * 300))}`,
    );
    const stream = messages.map((text) => (random() < 0.5 ? counted(text) : `${text}\n`)).join('');
    expect(texts(stream, () => Math.floor(random() * 40))).toEqual(messages);
    expect(texts(stream, () => 1)).toEqual(messages);
  }
});

it('a message that is too long is cut and marked, and the one after it is whole', () => {
  const long = `<1>${'x'.repeat(2 * MAX_MESSAGE)}`;
  for (const stream of [`${long}\n<2>b\n`, counted(long) + counted('<2>b')]) {
    for (const size of [1_000, 70_000, stream.length]) {
      const [first, second] = split(stream, () => size);
      expect([first?.text.length, first?.truncated, first?.text.startsWith('<1>xx')]).toEqual([
        MAX_MESSAGE,
        true,
        true,
      ]);
      expect(second).toEqual({ text: '<2>b', truncated: false });
    }
  }
});

it('a message that was announced and did not come whole is marked', () => {
  expect(split('100 <1>half', () => 3)).toEqual([{ text: '<1>half', truncated: true }]);
});

it('one byte at a time it takes no more time than bytes', () => {
  const splitter = new FrameSplitter();
  const began = performance.now();
  const byte = Buffer.from('x');
  for (let n = 0; n < 300_000; n += 1) splitter.push(byte);
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(splitter.push(Buffer.from('\n<1>a\n'))).toHaveLength(1);
});
