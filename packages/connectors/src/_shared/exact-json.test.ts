import { expect, test } from 'vitest';
import { parseExact } from './exact-json.js';

test.each([
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', '9007199254740992'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['12345678.123456789', '12345678.123456789'],
  ['1234567.125000000000', 1234567.125],
  ['0.30000000000000004', 0.30000000000000004],
  ['0.1234567890123456789', '0.1234567890123456789'],
  ['1234567890.50', 1234567890.5],
  ['1e400', '1e400'],
  ['1.5e3', 1500],
  ['5e-324', 5e-324],
  ['0.0000000000000000', 0],
  ['-0.0000000000000000000001', -1e-22],
])('%s', (text, value) => {
  expect(parseExact(text)).toEqual(value);
  expect(parseExact(`{"a":[${text}]}`)).toEqual({ a: [value] });
});

test('digits inside of strings are left alone', () => {
  const record = { a12345678901234567890: 'say \\"12345678901234567890\\" and 99999999999999999999', b: '\\' };
  expect(parseExact(JSON.stringify(record))).toEqual(record);
});

test('what is no JSON is an error', () => {
  expect(() => parseExact('{"a":01234567890123456789}')).toThrow();
  expect(() => parseExact('12345678901234567890 x')).toThrow(SyntaxError);
});
