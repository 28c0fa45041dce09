import { describe, expect, it } from 'vitest';
import { seededRandom } from '@connector-frame/engine/testing';
import { BodyError } from '@connector-frame/engine/connector-api';
import { readRecords } from './read-records.js';

const read = (body: string | Buffer) => readRecords(Buffer.from(body));
const refusal = async (body: string | Buffer): Promise<BodyError> => {
  const error: unknown = await read(body).then(
    (lines) => new Error(`taken as ${lines.length}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof BodyError) return error;
  throw error;
};

const nested = (levels: number) => `{"a":`.repeat(levels) + '1' + '}'.repeat(levels);

describe('records of a body', () => {
  it.each([
    ['one object', '{"a":1}', ['{"a":1}']],
    ['one object over several lines', '{\n  "a": [\r\n    1,\n    2\n  ]\n}\n', ['{"a": [1,2]}']],
    ['an array', ' [ {"a":1} , {"b":[{}]} ] ', ['{"a":1}', '{"b":[{}]}']],
    ['an empty array', '[\n]', []],
    ['lines', '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ['lines that end with CRLF, blank ones, none at the end', '\r\n{"a":1}\r\n\r\n \n{"b":2}', ['{"a":1}', '{"b":2}']],
    ['a byte order mark, and one where files were joined', '\ufeff{"a":1}\n\ufeff{"b":2}', ['{"a":1}', '{"b":2}']],
    ['objects without anything between', '{"a":"}{"}{"b":2}', ['{"a":"}{"}', '{"b":2}']],
    ['arrays one after the other', '[{"a":1}]\n[{"b":2}]', ['{"a":1}', '{"b":2}']],
    ['nothing', ' \r\n', []],
  ])('%s', async (_name, body, lines) => {
    expect(await read(body)).toEqual(lines);
  });

  it('keep their text: long numbers, special JavaScript keys, repeated keys, escapes', async () => {
    const lines = [
      '{"n":123456789012345678901234567890,"e":1e400,"z":-0.10}',
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}',
      '{"a":1,"a":2}',
      '{"text":"\\u0000\\ud800 \\/ ü 😀\u2028"}',
    ];
    expect(await read(lines.join('\n'))).toEqual(lines);
    expect(await read(`[${lines.join(',')}]`)).toEqual(lines);
    expect({}).not.toHaveProperty('polluted');
  });

  it.each([
    ['text that is no JSON', '{"a":1}\n{"b":}\n', { line: 2, record: 2 }],
    ['an array that is not closed', '[{"a":1},\n{"b":1}', { line: 2, record: 3 }],
    ['a comma too many', '[{"a":1},]', { line: 1, record: 2 }],
    ['a comma between lines', '{"a":1},\n{"a":1}', { line: 1, record: 2 }],
    ['an array in an array', '[[{"a":1}]]', { line: 1, record: 1 }],
    ['a number among the records', '{"a":1}\n\n7\n', { line: 3, record: 2 }],
    ['a record without end', '{"a":1}\n{"a":"x', { line: 2, record: 2 }],
    ['a line break in a text', '{"a":"x\ny"}', { line: 1, record: 1 }],
    ['a form', 'a=1&b=2', { line: 1, record: 1 }],
  ])('rejects %s with its position', async (_name, body, details) => {
    const error = await refusal(body);
    expect([error.status, error.details]).toEqual([400, details]);
    expect(error.message).toContain(`Line ${details.line}`);
  });

  it('does not quote the body', async () => {
    const { message } = await refusal('{"password":"hunter2"x}');
    expect(message).toBe('Line 1 (record 1) is not valid JSON. No record of this request was stored.');
  });

  it('rejects bytes that are not UTF-8 with their line', async () => {
    const error = await refusal(
      Buffer.concat([Buffer.from('{"a":"ü"}\n{"b":"'), Buffer.of(0xfc), Buffer.from('"}\n')]),
    );
    expect(error.message).toBe('Line 2 is not valid UTF-8. No record of this request was stored.');
  });

  it('rejects nesting deeper than 100 levels', async () => {
    expect(await read(nested(100))).toHaveLength(1);
    expect((await refusal(nested(101))).message).toContain('nested deeper than 100 levels');
    expect((await refusal('{"a":' + '['.repeat(5_000_000))).message).toContain('nested deeper');
  });
});

it('rejects a body with too many records', async () => {
  const error = await refusal('{}\n'.repeat(500_001));
  expect([error.status, error.message]).toEqual([413, expect.stringContaining('500,000 records')]);
  expect(await read('{}\n'.repeat(500_000))).toHaveLength(500_000);
});

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

it('accepts exactly what JSON.parse accepts, for thousands of broken texts', async () => {
  const random = seededRandom(11);
  const pick = (from: string): string => from[Math.floor(random() * from.length)] ?? '';
  const value = (depth: number): string => {
    const kind = Math.floor(random() * (depth > 3 ? 6 : 9));
    const many = <T>(make: () => T): T[] => Array.from({ length: Math.floor(random() * 4) }, make);
    if (kind < 2) return JSON.stringify(many(() => pick('aü\\"\n\u0001/😀')).join(''));
    if (kind === 2) return String((random() - 0.5) * 10 ** Math.floor(random() * 30 - 10));
    if (kind < 6) return ['true', 'false', 'null', '0', '-1.5e+3'][Math.floor(random() * 5)] ?? '';
    if (kind < 8) return `{${many(() => `${JSON.stringify(pick('abc'))} :${value(depth + 1)}`).join(', ')}}`;
    return `[${many(() => value(depth + 1)).join(' ,')}]`;
  };
  let [taken, rejected] = [0, 0];
  for (let round = 0; round < 8_000; round += 1) {
    const whole = `{"a":${value(0)},"b":${value(0)}}`;
    const at = Math.floor(random() * whole.length);
    const text =
      round % 3 === 0
        ? whole
        : `${whole.slice(0, at)}${pick('{}[]",:\\0-.eEtn u1')}${whole.slice(at + (round % 3) - 1)}`;
    const lines = await read(text).catch((error: unknown) => (error instanceof BodyError ? undefined : error));
    const good = parses(text);
    expect({ text, lines }).toEqual({ text, lines: good ? [text.trim()] : lines });
    if (!good && Array.isArray(lines)) {
      // The change split the object into several; each must be valid JSON by itself.
      expect(lines.length).not.toBe(1);
      for (const line of lines) expect(parses(String(line))).toBe(true);
    }
    if (good) taken += 1;
    else rejected += 1;
  }
  expect(taken).toBeGreaterThan(2_000);
  expect(rejected).toBeGreaterThan(2_000);
});
