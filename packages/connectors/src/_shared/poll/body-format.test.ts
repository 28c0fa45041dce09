import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { open, streamed } from '../../../../../test/support/poll-acme.js';
import { parseBody, type BodyFormat } from './body-format.js';
import { unpackBody } from './unpack-body.js';

const parse = (text: string | Uint8Array, format: BodyFormat = {}) => parseBody(Buffer.from(text), format);

describe('response bodies', () => {
  test.each<[string, BodyFormat, unknown]>([
    ['{"id":9007199254740993,"n":1}', {}, { id: '9007199254740993', n: 1 }],
    ['', {}, null],
    [' \n', {}, null],
    ['\uFEFF[1]', {}, [1]],
    ['{"a":1}\r\n\n{"a":2}\n', { format: 'ndjson' }, [{ a: 1 }, { a: 2 }]],
    ['one\r\ntwo\n', { format: 'lines' }, [{ message: 'one' }, { message: 'two' }]],
    // Quotes and line breaks as in RFC 4180, section 2.
    ['a,b\r\n1,"x ""y"", z\nw"\r\n', { format: 'csv' }, [{ a: '1', b: 'x "y", z\nw' }]],
    [
      '# by Acme\n#\nx;y\n',
      { format: 'csv', csv: { delimiter: ';', columns: ['a', 'b'], comment: '#' } },
      [{ a: 'x', b: 'y' }],
    ],
    ['a,b\n', { format: 'csv' }, []],
    ['Audit report\n\na,b\n1,2\n', { format: 'csv', csv: { skip: 2 } }, [{ a: '1', b: '2' }]],
    // Extended log file format: https://www.w3.org/TR/WD-logfile.html
    [
      '#Version: 1.0\r\n#Fields: time cs-method cs-uri\r\n00:34:23 GET "/foo bar.html"\r\n',
      { format: 'csv', csv: { delimiter: ' ', comment: '#', header: '#Fields: ' } },
      [{ time: '00:34:23', 'cs-method': 'GET', 'cs-uri': '/foo bar.html' }],
    ],
    [
      '<?xml version="1.0"?><r:report xmlns:r="u"><e id="1"><t>a &amp; b</t></e><e id="2"><![CDATA[<x>]]></e></r:report>',
      { format: 'xml' },
      {
        report: {
          '@r': 'u',
          e: [
            { '@id': '1', t: 'a & b' },
            { '@id': '2', '#text': '<x>' },
          ],
        },
      },
    ],
  ])('%j as %j', async (text, format, expected) => {
    expect(await parse(text, format)).toEqual(expected);
  });

  test.each<[string, string, BodyFormat]>([
    ['truncated JSON', '{"a":', {}],
    ['a truncated line', '{"a":1}\n{"a"', { format: 'ndjson' }],
    ['a web page', '<!DOCTYPE html><html></html>', { format: 'csv' }],
    ['an open quote', 'a,b\n1,"x', { format: 'csv' }],
    ['a missing end tag', '<a><b></a>', { format: 'xml' }],
    ['truncated XML', '<a>', { format: 'xml' }],
    ['text', 'text', { format: 'xml' }],
    ['deep XML', '<a>'.repeat(100_000), { format: 'xml' }],
  ])('rejects %s', async (_name, text, format) => {
    await expect(parse(text, format)).rejects.toThrow();
  });

  test('decompresses gzip and zip, and reads UTF-16', async () => {
    expect(await parse(gzipSync('{"a":1}\n{"a":2}'), { format: 'ndjson' })).toEqual([{ a: 1 }, { a: 2 }]);
    expect(await parse(Buffer.concat([gzipSync('a\n'), gzipSync('1\n')]), { format: 'csv' })).toEqual([{ a: '1' }]);
    const files = { 'x/1.csv': strToU8('a\n1\n'), 'x/2.csv': strToU8('a\n2\n'), '__MACOSX/1': strToU8('no') };
    expect(await parse(zipSync(files), { format: 'csv' })).toEqual([{ a: '1' }, { a: '2' }]);
    expect(await parse(zipSync({ 'a.gz': gzipSync('a\n1\n') }), { format: 'csv' })).toEqual([{ a: '1' }]);
    expect(await parse(zipSync({ 'a.json': strToU8('{"a":1}') }))).toEqual({ a: 1 });
    expect(await parse(Buffer.from('\uFEFFa\n1\n', 'utf16le'), { format: 'csv' })).toEqual([{ a: '1' }]);
  });

  test('rejects bombs and damaged archives', async () => {
    const bomb = Buffer.alloc(200_000);
    await expect(unpackBody(gzipSync(bomb), 100_000)).rejects.toThrow();
    await expect(unpackBody(Buffer.from(zipSync({ a: bomb })), 100_000)).rejects.toThrow('too large');
    await expect(unpackBody(Buffer.from(zipSync({ a: bomb, b: bomb })), 300_000)).rejects.toThrow('too large');
    await expect(unpackBody(Buffer.from(zipSync({ a: gzipSync(bomb) })), 100_000)).rejects.toThrow();
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [String(index), strToU8('1')]));
    await expect(parse(zipSync(many, { level: 0 }))).rejects.toThrow('too many files');
    const archive = zipSync({ a: strToU8('1'.repeat(99)) });
    await expect(parse(archive.subarray(0, 33))).rejects.toThrow();
    await expect(parse(gzipSync('[1]').subarray(0, 15))).rejects.toThrow();
  });
});

const read = async (records: object, body: object | string, request: object = {}) => {
  const { driver } = await open(
    streamed({ query: {}, ...request, records: { path: '', ...records }, cursor: { kind: 'none' } }),
    () => ({ body }),
  );
  await driver.poll();
  return driver.delivered;
};
const nested = (text: string) =>
  read({ path: '/list/host/*/found/item', add: { host: '/list/host/*/id' } }, text, { format: 'xml' });
const host = (id: number, items: string) => `<host><id>${id}</id><found>${items}</found></host>`;
const xml = (text: string) => read({ path: '/report/event' }, text, { format: 'xml' });

describe('where the records are', () => {
  test.each<[string, object, object, unknown]>([
    ['several paths', { path: ['/a', '/b'] }, { a: [{ n: 1 }], b: [{ n: 2 }] }, [{ n: 1 }, { n: 2 }]],
    [
      'lists inside a list, with fields of the parent and of the response',
      { path: '/accounts/*/events', add: { account: '/accounts/*/id', tenant: '/tenant' } },
      {
        tenant: 't',
        accounts: [
          { id: 'a', events: [{ n: 1 }] },
          { id: 'b', events: [{ n: 2 }] },
        ],
      },
      [
        { n: 1, account: 'a', tenant: 't' },
        { n: 2, account: 'b', tenant: 't' },
      ],
    ],
    [
      'lists inside an object, with their key',
      { path: '/*', key: 'host' },
      { h1: [{ n: 1 }], h2: [] },
      [{ n: 1, host: 'h1' }],
    ],
    [
      'an object whose values are the records',
      { path: '/r', shape: 'map', key: 'id' },
      { r: { x: { n: 1 }, y: 2 } },
      [
        { n: 1, id: 'x' },
        { value: 2, id: 'y' },
      ],
    ],
    ['a single object', { path: '/user', shape: 'object' }, { user: { n: 1 } }, [{ n: 1 }]],
    [
      'an object inside each item',
      { path: '/*/result', shape: 'object' },
      [{ result: { n: 1 } }, { result: { n: 2 } }],
      [{ n: 1 }, { n: 2 }],
    ],
    [
      'rows with the names of their columns in the response',
      { path: '/rows', shape: 'rows', columns: '/schema/*/name' },
      {
        schema: [{ name: 'a' }, { name: 'b' }],
        rows: [
          [1, null],
          [2, 'x', true],
        ],
      },
      [
        { a: 1, b: null },
        { a: 2, b: 'x', column_3: true },
      ],
    ],
    ['rows with names from the definition', { path: '', shape: 'rows', columns: ['a'] }, [[1]], [{ a: 1 }]],
    ['nothing at an optional path', { path: '/accounts/*/events', optional: true }, { accounts: [{ id: 'a' }] }, []],
  ])('%s', async (_name, records, body, expected) => {
    expect(await read(records, body)).toEqual(expected);
  });

  test('one element of XML is a list of one, and no element an empty one', async () => {
    expect(await xml('<report><event><id>1</id></event></report>')).toEqual([{ id: '1' }]);
    expect(await xml('<report/>')).toEqual([]);
    await expect(xml('<error><event/></error>')).rejects.toMatchObject({ code: 'unexpected_answer' });
    const [one, two] = ['<item><n>1</n></item>', '<item><n>1</n></item><item><n>2</n></item>'];
    expect(await nested(`<list>${host(7, one)}</list>`)).toEqual([{ n: '1', host: '7' }]);
    expect(await nested(`<list>${host(7, '')}${host(8, two)}</list>`)).toEqual([
      { n: '1', host: '8' },
      { n: '2', host: '8' },
    ]);
    expect(await nested('<list/>')).toEqual([]);
  });

  test('reads the records of NDJSON, and none of an empty response', async () => {
    expect(await read({}, '{"n":1}\n{"n":2}\n', { format: 'ndjson' })).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await read({}, '', { format: 'csv' })).toEqual([]);
    expect(await read({ optional: true }, '')).toEqual([]);
    const none = await open({}, () => ({ status: 204 }));
    await none.driver.poll();
    expect(none.driver.delivered).toEqual([]);
    const blank = await open({}, () => ({ body: '' }));
    expect(await blank.driver.fails()).toMatchObject({ code: 'unexpected_answer' });
  });
});
