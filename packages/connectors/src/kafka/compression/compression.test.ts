import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { lz4, unlz4 } from './lz4.js';
import { snappy, unsnappy } from './snappy.js';

const MOST = 1024 * 1024;
const both = [
  ['snappy', snappy, unsnappy],
  ['lz4', lz4, unlz4],
] as const;

const line = (n: number): string =>
  JSON.stringify({ n, actor: `user-${n % 7}`, action: 'login', note: 'x'.repeat(n % 90) });
const samples = {
  empty: Buffer.alloc(0),
  byte: Buffer.from('a'),
  short: Buffer.from('abcabcabcabc'),
  zeros: Buffer.alloc(300_000),
  lines: Buffer.from(Array.from({ length: 4_000 }, (_each, n) => line(n)).join('\n')),
  random: randomBytes(200_000),
  mixed: Buffer.concat([randomBytes(70_000), Buffer.alloc(70_000, 'ab'), randomBytes(17)]),
};

test.each(both)('%s gives back what it was given', (_name, pack, unpack) => {
  for (const [name, sample] of Object.entries(samples)) {
    const packed = pack(sample);
    expect(unpack(packed, MOST).equals(sample), name).toBe(true);
    expect(packed.length, name).toBeLessThan(sample.length * 1.01 + 64);
  }
  expect(pack(samples.lines).length).toBeLessThan(samples.lines.length / 3);
  for (let size = 0; size < 600; size += 1) {
    const sample = samples.lines.subarray(0, size);
    expect(unpack(pack(sample), MOST).equals(sample)).toBe(true);
  }
});

test.each(both)('%s: a bomb, a torn and a changed text are errors, quickly', (_name, pack, unpack) => {
  expect(() => unpack(pack(Buffer.alloc(MOST + 1)), MOST)).toThrow(RangeError);
  const packed = pack(samples.lines);
  for (let turn = 0; turn < 500; turn += 1) {
    const torn = Buffer.from(packed.subarray(0, Math.floor(Math.random() * packed.length)));
    const changed = Buffer.from(packed);
    changed[Math.floor(Math.random() * 200)] = Math.floor(Math.random() * 256);
    for (const each of [torn, changed]) {
      try {
        expect(unpack(each, MOST).length).toBeLessThanOrEqual(MOST);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect(error).toHaveProperty('name', 'RangeError');
      }
    }
  }
});

test('blocks that refer to those before, and Snappy without a stream around it', () => {
  // A frame as written by `lz4 -BD`: the second block references eight bytes of the first.
  const frame = Buffer.concat([
    Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0, 9, 0, 0, 0, 0x80]),
    Buffer.from('abcdefgh'),
    Buffer.from([9, 0, 0, 0, 0x04, 8, 0, 0x50]),
    Buffer.from('12345'),
    Buffer.alloc(4),
  ]);
  expect(unlz4(frame, MOST).toString()).toBe('abcdefghabcdefgh12345');
  expect(unsnappy(Buffer.from([6, 5 << 2, ...Buffer.from('abcdef')]), MOST).toString()).toBe('abcdef');
  expect(unsnappy(Buffer.from([12, 3 << 2, ...Buffer.from('abcd'), (4 << 2) | 1, 4]), MOST).toString()).toBe(
    'abcdabcdabcd',
  );
});
