import { describe, expect, test } from 'vitest';
import { createParser, type FormatOptions, type Found } from './index.js';

const options = (changes: Partial<FormatOptions>): FormatOptions => ({
  format: 'jsonl',
  columns: [],
  location: undefined,
  ...changes,
});

/** Parses the text in chunks of `size` characters. */
function parse(text: string, changes: Partial<FormatOptions>, size = 1_000_000): Found[] {
  const parser = createParser(options(changes));
  const found: Found[] = [];
  for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
  return [...found, ...parser.end()];
}
const records = (found: Found[]) => found.flatMap((each) => ('record' in each ? [each.record] : []));
const reasons = (found: Found[]) => found.flatMap((each) => ('unreadable' in each ? [each.unreadable.reason] : []));

/** Asserts that the result does not depend on the chunk size. */
function everySize(text: string, changes: Partial<FormatOptions>): Found[] {
  const whole = parse(text, changes);
  for (const size of [1, 2, 3, 7, 16]) expect(parse(text, changes, size)).toEqual(whole);
  return whole;
}

describe('JSON lines', () => {
  test('skips a bad line', () => {
    const found = everySize('{"n":1}\r\n\n{"n":\n3\n"x"\n{"n":2}', {});
    expect(records(found)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(reasons(found)).toEqual(['invalid_json', 'no_json_object', 'no_json_object']);
  });

  test('records below a path, and lists of them', () => {
    const text = '{"data":{"records":[{"n":1},{"n":2}]}}\n{"data":[{"records":{"n":3}},{"records":[]}]}\n{"other":1}\n';
    expect(records(everySize(text, { location: 'data.records' }))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test('reports a line that is too long, and reads the next one', () => {
    const parser = createParser(options({}));
    const found = [...Array(50)].flatMap(() => parser.push('x'.repeat(100_000)));
    found.push(...parser.push('\n{"n":1}\n'), ...parser.end());
    expect(records(found)).toEqual([{ n: 1 }]);
    expect(reasons(found)).toEqual(['too_large']);
    expect(JSON.stringify(found).length).toBeLessThan(5_000);
  });

  test('keeps the digits of a number', () => {
    expect(records(parse('{"id":12345678901234567890}', {}))).toEqual([{ id: '12345678901234567890' }]);
  });
});

describe('JSON documents', () => {
  test.each([
    ['a list', '[{"n":1}, {"n":"]}"},{"n":[{}]}]', undefined],
    [
      'a list below keys',
      '{"a":{"x":"{[","y":[1,{"Records":[{"n":9}]}]},"Records": [ {"n":1} ,{"n":"]}"},{"n":[{}]}],"b":2}',
      'Records',
    ],
    ['a list of lists of them', '{"d":[{"r":[{"n":1}]},{"r":[{"n":"]}"},{"n":[{}]}]},{"q":{"r":[{"n":7}]}}]}', 'd.r'],
    ['one after the other', '{"n":1}{"n":"]}"}\n\n {"n":[{}]} ', undefined],
    ['escaped keys', '{"\\u0052":[{"n":1},{"n":"]}"},{"n":[{}]}]}', 'R'],
  ])('%s', (_name, text, location) => {
    expect(records(everySize(text, { format: 'json', location }))).toEqual([{ n: 1 }, { n: ']}' }, { n: [{}] }]);
  });

  test('quotes and backslashes at chunk boundaries', () => {
    const record = { text: 'a\\"b"\\\\', '"k\\': '\\' };
    expect(records(everySize(JSON.stringify([record, record]), { format: 'json' }))).toEqual([record, record]);
  });

  test('reports a bad element and reads the others', () => {
    const found = everySize('[{"n":1},{"n":tru},3,null,{"n":2}]', { format: 'json' });
    expect(records(found)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(reasons(found)).toEqual(['invalid_json', 'no_json_object', 'no_json_object']);
  });

  test.each([
    ['[{"n":1},{"n":2', 'incomplete_json'],
    ['[{"n":1}', 'incomplete_json'],
    ['<html>no</html>', 'invalid_json'],
    ['{"a" 1}', 'invalid_json'],
    ['['.repeat(500), 'invalid_json'],
  ])('%s is %s', (text, reason) => {
    expect(() => parse(text, { format: 'json', location: 'a.b' })).toThrow(expect.objectContaining({ reason }));
  });

  test('parses a document of any size in bounded memory, and reports a record that is too large', () => {
    const parser = createParser(options({ format: 'json', location: 'r' }));
    let count = 0;
    parser.push('{"r":[{"n":0}');
    for (let n = 0; n < 2_000; n += 1) count += records(parser.push(`,{"n":${n},"t":"${'y'.repeat(2_000)}"}`)).length;
    expect(count).toBe(2_000);
    const found = [...parser.push(',{"big":"'), ...[...Array(30)].flatMap(() => parser.push('z'.repeat(100_000)))];
    found.push(...parser.push('"},{"n":1}]}'), ...parser.end());
    expect(records(found)).toEqual([{ n: 1 }]);
    expect(reasons(found)).toEqual(['too_large']);
  });
});

describe('columns', () => {
  test('CSV with a header, quotes, line breaks, short and long rows', () => {
    const text = 'time,"na,me",time,\r\n1,"a ""b""\nc",2\n\n"",x,y,z,more\n';
    expect(records(everySize(text, { format: 'csv' }))).toEqual([
      { time: '1', 'na,me': 'a "b"\nc', column_3: '2' },
      { time: '', 'na,me': 'x', column_3: 'y', column_4: 'z', column_5: 'more' },
    ]);
  });

  test('names from the settings', () => {
    expect(records(everySize('1,2\n3,4', { format: 'csv', columns: ['a', 'b'] }))).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ]);
  });

  test.each(['\t', '|', ';', ','])('delimited by %j', (sign) => {
    const text = [`a${sign}b c`, `1${sign}"x${sign}y"`].join('\n');
    expect(records(everySize(text, { format: 'delimited' }))).toEqual([{ a: '1', 'b c': `x${sign}y` }]);
  });

  test('the delimiter is detected outside of quotes', () => {
    const text = '"a,b\n|,|,|";"c,d";e\n1;2;3\n';
    expect(records(everySize(text, { format: 'delimited' }))).toEqual([{ 'a,b\n|,|,|': '1', 'c,d': '2', e: '3' }]);
  });

  test('quotes in the middle of a cell', () => {
    const text = 'size,name\n5" disk,a "b"\n"6""",7\n';
    expect(records(everySize(text, { format: 'csv' }))).toEqual([
      { size: '5" disk', name: 'a "b"' },
      { size: '6"', name: '7' },
    ]);
  });

  test('a row longer than any record, and one of many cells', () => {
    const long = `a,"${'x\n'.repeat(1_100_000)}"\n`;
    expect(() => parse(long, { format: 'csv' }, 65_536)).toThrow(expect.objectContaining({ reason: 'unclosed_quote' }));
    const [record = {}] = records(parse(`${','.repeat(200_000)}\n`, { format: 'csv', columns: ['a'] }, 65_536));
    expect(Object.keys(record)).toHaveLength(200_001);
  });

  test('cells between spaces', () => {
    const text = 'version account  "full name"\n2   123 "a \\"b\\" c"\n3\t-\n';
    expect(records(everySize(text, { format: 'wsv' }))).toEqual([
      { version: '2', account: '123', 'full name': 'a \\"b\\" c' },
      { version: '3', account: '-' },
    ]);
  });

  test('a quote that is never closed', () => {
    expect(() => parse('a,b\n1,"2\n3,4\n', { format: 'csv' })).toThrow(
      expect.objectContaining({ reason: 'unclosed_quote' }),
    );
  });

  test('a name that objects have by themselves is a column', () => {
    const [record] = records(parse('__proto__,constructor\n1,2', { format: 'csv' }));
    expect(JSON.stringify(record)).toBe('{"__proto__":"1","constructor":"2"}');
  });
});
