import { describe, expect, test } from 'vitest';
import type { DataRecord } from '../connector-api/record.js';
import { compileTransform } from './compile-transform.js';
import { parseTransform } from './parse-transform.js';

function convert(record: DataRecord, given: Record<string, unknown>): DataRecord | undefined {
  const [stage] = compileTransform({ operations: [{ operation: 'convert_cef', arguments: given }] });
  if (stage?.kind !== 'each') throw new Error('There is no stage.');
  return stage.apply(record, { now: Date.UTC(2026, 2, 18), recordId: 'b.0' });
}

// Escapes as in the examples of the format's specification.
const TEXT =
  '<134>Mar 18 12:00:00 fw1 CEF:0|Security|threat\\|manager|1.0|100|detected a \\\\ in message|10|' +
  'src=10.0.0.1 act=blocked a \\= b dst=1.1.1.1 spt=1232 msg=first\\nsecond cs1Label=Rule cs1="17" cs2= ' +
  'rt=1773837296789 end=Mar 18 2026 12:34:56';
const HEADER = {
  cef_version: '0',
  device_vendor: 'Security',
  device_product: 'threat|manager',
  device_version: '1.0',
  signature_id: '100',
  name: 'detected a \\ in message',
  severity: '10',
};
const FIELDS = {
  src: '10.0.0.1',
  act: 'blocked a = b',
  dst: '1.1.1.1',
  spt: '1232',
  msg: 'first\nsecond',
  cs1Label: 'Rule',
  cs1: '"17"',
  cs2: '',
  rt: '1773837296789',
  end: 'Mar 18 2026 12:34:56',
};
const record = { host: { name: 'fw1' }, message: TEXT };

describe('convert_cef', () => {
  test('adds the header and the extension to the record, with escapes resolved', () => {
    expect(convert(record, {})).toEqual({ ...record, ...HEADER, ...FIELDS });
    expect(convert(record, { output_key: 'cef.event' })).toEqual({
      ...record,
      cef: { event: { ...HEADER, ...FIELDS } },
    });
  });

  test('replaces the record, and keeps what the envelope names', () => {
    const given = { output_mode: 'replace', envelope: { origin: 'host.name', none: 'absent' }, output_key: 'cef' };
    expect(convert(record, given)).toEqual({ origin: 'fw1', cef: { ...HEADER, ...FIELDS } });
  });

  test('names, types and collects fields as configured', () => {
    const given = {
      output_mode: 'replace',
      header_fields: ['', 'vendor'],
      columns: { src: 'source.ip', spt: 'source_port', rt: 'received', end: 'ended', cs1: 'rule', cs2: 'empty' },
      numeric_columns: ['source_port', 'rule'],
      iso_date_columns: ['received', 'ended'],
      strip_quotes: true,
      empty_to_null: true,
      overflow_field: 'rest',
      overflow_separator: '; ',
    };
    expect(convert(record, given)).toEqual({
      vendor: 'Security',
      device_product: undefined,
      'source.ip': '10.0.0.1',
      source_port: 1232,
      rule: 17,
      empty: null,
      received: '2026-03-18T12:34:56.789Z',
      ended: '2026-03-18T12:34:56.000Z',
      rest: 'act=blocked a = b; dst=1.1.1.1; msg=first\nsecond; cs1Label=Rule',
    });
  });

  test('resolves labels, and full names', () => {
    const given = { output_mode: 'replace', header_fields: [], preset: 'full_names', resolve_labels: true };
    expect(convert(record, given)).toMatchObject({ sourceAddress: '10.0.0.1', message: 'first\nsecond', Rule: '"17"' });
    expect(convert(record, given)).not.toHaveProperty('cs1Label');
    expect(convert(record, { ...given, overflow_field: 'rest' })).toMatchObject({ rest: { sourcePort: '1232' } });
  });

  test('joins broken lines', () => {
    const text = 'CEF:0|v|p|1|2|n|3|msg=one<br>two';
    const at = (mode?: string) =>
      convert({ message: text }, { continuation_marker: '<br>', ...(mode && { continuation_mode: mode }) });
    expect(at()).toMatchObject({ msg: 'onetwo' });
    expect(at('space')).toMatchObject({ msg: 'one two' });
    expect(at('newline')).toMatchObject({ msg: 'one\ntwo' });
  });

  test('reads backslashes literally in the dialect unescaped', () => {
    const message = 'CEF:0|v|p|1|2|n|3|path=C:\\new\\= file=x';
    expect(convert({ message }, { dialect: 'unescaped' })).toMatchObject({ path: 'C:\\new\\=', file: 'x' });
  });

  test.each([
    ['no event', ['The text is no CEF.']],
    ['CEF:0|v|p', ['The header has 2 of 6 fields.']],
    [
      'CEF:0|v|p|1|2|n|3|loose a=1 a=2',
      [expect.stringContaining('begins with text'), expect.stringContaining('twice')],
    ],
    ['CEF:0|v|p|1|2|n|3|spt=many', ['The value of spt is no number.']],
  ])('%s: warns, and rejects it if strict', (message, warnings) => {
    const given = { warnings_key: 'w', numeric_columns: ['spt'] };
    expect(convert({ message }, given)).toMatchObject({ message, w: warnings });
    expect(() => convert({ message }, { ...given, strict: true })).toThrow(
      expect.objectContaining({ code: 'not_convertible', message: expect.not.stringContaining('many') }),
    );
  });

  test('a key named __proto__ is a key like any other', () => {
    const message = 'CEF:0|v|p|1|2|n|3|__proto__=polluted constructor=x';
    const converted = convert({ message }, { output_mode: 'replace' });
    expect(Object.entries(converted ?? {})).toContainEqual(['__proto__', 'polluted']);
    expect(Object.getPrototypeOf(converted)).toBe(Object.prototype);
  });

  test('long texts take linear time', () => {
    for (const text of ['='.repeat(400_000), 'a='.repeat(200_000), `${'a'.repeat(400_000)}=`, ' '.repeat(400_000)])
      for (let round = 0; round < 20; round += 1)
        expect(convert({ message: `CEF:0|v|p|1|2|n|3|${text}` }, { resolve_labels: true })).toBeDefined();
  });

  test.each([
    [{ preset: 'other' }, 'preset'],
    [{ columns: ['a'] }, 'columns'],
    [{ columns: { a: 1 } }, 'columns'],
    [{ header_fields: 'a' }, 'header_fields'],
    [{ header_fields: Array(8).fill('a') }, 'header_fields'],
    [{ envelope: { a: 'b..c' } }, 'envelope/a'],
    [{ strict: 'yes' }, 'strict'],
    [{ colums: {} }, 'colums'],
  ])('refuses %j', async (given, name) => {
    const operations = [{ operation: 'convert_cef', arguments: given }];
    const path = `/operations/0/arguments/${name}`;
    expect(await parseTransform({ operations })).toMatchObject({ ok: false, problems: [{ path }] });
  });
});
