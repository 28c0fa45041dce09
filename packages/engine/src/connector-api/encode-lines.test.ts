import { expect, test } from 'vitest';
import { createBatch } from './batch.js';
import { encodeLines } from './encode-lines.js';

test.each([
  ['ASCII', ['{"a":1}', '{"b":"x"}']],
  ['one-byte characters beyond ASCII', ['{"a":"é"}', '{"b":"ÿ"}']],
  ['characters of two and three bytes and pairs', ['{"a":"日本"}', '{}', '{"b":"👩‍🚀"}']],
  ['half of a pair', ['{"a":"\ud83d"}', '{"b":1}']],
  ['one line', ['{}']],
  ['none', []],
])('%s: what joining would give', (_what, lines) => {
  const encoded = encodeLines(createBatch('b', lines), { before: 'ä[', between: ',', after: ']ö' });
  expect(encoded).toEqual(Buffer.from(`ä[${lines.join()}]ö`));
});

test.each([-3, 1, 5])('throws if the size is off by %i', (off) => {
  const { lines, bytes } = createBatch('b', ['{"a":"é"}', '{"b":2}']);
  expect(() => encodeLines({ lines, bytes: bytes + off }, { between: '\n' })).toThrow(RangeError);
});
