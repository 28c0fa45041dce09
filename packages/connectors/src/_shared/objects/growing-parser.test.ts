import { expect, test } from 'vitest';
import { seededRandom } from '@connector-frame/engine/testing';
import { GrowingParser, type GrowthPosition } from './growing-parser.js';

const records = [
  { n: 0 },
  { n: 1, text: 'a "quoted" \\ {brace' },
  { n: 2, é: ['😀', { b: ']}' }] },
  { n: 3, empty: {} },
];
const json = records.map((record) => JSON.stringify(record));

const forms = {
  'JSON lines': (count: number) =>
    json
      .slice(0, count)
      .map((line) => `${line}\n`)
      .join(''),
  'JSON lines of Windows': (count: number) =>
    `\uFEFF${json
      .slice(0, count)
      .map((line) => `${line}\r\n`)
      .join('')}`,
  // As Network Watcher writes it: the first and the last block are the brackets.
  'an array of records': (count: number) => `{"records":[${json.slice(0, count).join(',')}]}`,
  'an array of records with line breaks': (count: number) =>
    `{\n "records" : [\n${json.slice(0, count).join(',\n')}\n]\n}\n`,
};

test.each(Object.entries(forms))('%s: reads each record once, however the object grows and is cut', (_name, form) => {
  const random = seededRandom(7);
  for (let round = 0; round < 200; round += 1) {
    let position: GrowthPosition | undefined;
    const read: unknown[] = [];
    for (let count = 1; count <= records.length; count += 1) {
      const whole = Buffer.from(form(count));
      // Also in the middle of a record, as long as the rest arrives later.
      const isCut = count < records.length && random() < 0.3;
      const end = isCut ? whole.byteLength - Math.floor(random() * 12) - 2 : whole.byteLength;
      const parser = new GrowingParser(position);
      for (let at = position?.offset ?? 0; at < end;) {
        const size = 1 + Math.floor(random() * 20);
        for (const { found } of parser.push(whole.subarray(at, Math.min(end, at + size)))) read.push(...found);
        at += size;
      }
      for (const { found } of parser.end()) read.push(...found);
      if (parser.position.offset > 0) ({ position } = parser);
    }
    expect(read).toEqual(records.map((record) => ({ record })));
  }
});

test('a record that is too large is rejected, and the next ones are read', () => {
  const parser = new GrowingParser(undefined);
  const text = Buffer.from(`{"n":0}\n{"big":"${'x'.repeat(5_000_000)}"}\n{"n":1}\n`);
  const found: unknown[] = [];
  for (let at = 0; at < text.byteLength; at += 65_536)
    for (const grown of parser.push(text.subarray(at, at + 65_536))) found.push(...grown.found);
  expect(found).toEqual([
    { record: { n: 0 } },
    { unreadable: { reason: 'too_large', found: expect.any(String) } },
    { record: { n: 1 } },
  ]);
  expect(parser.position.offset).toBe(text.byteLength - 1);
});

test('rejects content that is no JSON', () => {
  expect(() => [...new GrowingParser({ offset: 0, nested: false }).push(Buffer.from('<html>'))]).toThrow(
    'invalid_json',
  );
});
