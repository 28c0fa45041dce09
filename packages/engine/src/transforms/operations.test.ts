import { createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DataRecord } from '../connector-api/record.js';
import { compileTransform } from './compile-transform.js';
import type { Outcome } from './operation.js';
import { OPERATION_TYPES } from './operations/index.js';
import { parseTransform } from './parse-transform.js';
import { runStages } from './run-stages.js';

const NOW = Date.UTC(2026, 2, 18, 12, 34, 56, 789);
const bounds = { signal: new AbortController().signal, maxBytes: 1024 * 1024, maxMs: 10_000 };
const KEY = randomBytes(32);
const secrets: Readonly<Record<string, string>> = {
  'key-1': KEY.toString('base64'),
  'key-2': KEY.toString('hex'),
  'pass-1': 'a long enough pass phrase',
  short: 'short',
};
const resolveSecret = (id: string): string | undefined => secrets[id];

async function run(config: object, records: readonly DataRecord[], recordId = 'b'): Promise<readonly Outcome[]> {
  const parsed = await parseTransform(config, { resolveSecret });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const stages = compileTransform(parsed.transform, { resolveSecret });
  const input = {
    lines: records.map((record) => JSON.stringify(record)),
    recordId: (index: number) => `${recordId}.${index}`,
    now: NOW,
  };
  return (await runStages(stages, input, bounds)) ?? [];
}

/** Returns the record after one operation, `undefined` if it was dropped, or the rejection. */
async function after(operation: string, given: object, record: DataRecord, references?: object) {
  const one = { operation, arguments: given, ...(references && { secrets: references }) };
  const [outcome] = await run({ operations: [one] }, [record]);
  return typeof outcome === 'string' ? outcome : outcome?.[0] === undefined ? undefined : JSON.parse(outcome[0]);
}

const event: DataRecord = {
  id: 7,
  user: { name: 'Ana', email: 'ana@example.com' },
  tags: ['a', 'b'],
  time: '2026-03-18T13:34:56.250+01:00',
  bytes: '1536',
  ok: true,
  note: null,
};

describe('all operations, on the same record', () => {
  const cases: [operation: string, given: object, expected: unknown][] = [
    ['add', { key: 'source', value: { a: 1 } }, { ...event, source: { a: 1 } }],
    ['create_key_value_if_key_value', watch('id', 7), { ...event, level: 'high' }],
    ['create_key_value_if_key_value', watch('id', 8), event],
    ['create_key_value_if_key_value', watch('tags', ['a', 'b']), { ...event, level: 'high' }],
    ['create_key_value_if_key_value', watch('absent', ''), event],
    ['drop_key', { key: 'user.email' }, { ...event, user: { name: 'Ana' } }],
    ['drop_key_where_value_eq', { key: 'user.name', value: 'Ana' }, { ...event, user: { email: 'ana@example.com' } }],
    ['drop_key_where_value_eq', { key: 'user.name', value: 'ana' }, event],
    ['drop_record_where_value_eq', { key: 'ok', value: true }, undefined],
    ['drop_record_where_value_eq', { key: 'ok', value: 'true' }, undefined],
    ['drop_record_where_value_eq', { key: 'ok', value: false }, event],
    ['drop_record_where_value_eq', { key: 'note', value: null }, undefined],
    ['drop_record_where_value_eq', { key: 'absent', value: null }, event],
    ['duplicate_key_value_to_key', { key: 'user.name', new_key: 'who' }, { ...event, who: 'Ana' }],
    ['duplicate_key_value_to_key', { key: 'absent', new_key: 'who' }, event],
    ['flatten', { key: 'user' }, { ...omit('user'), user_name: 'Ana', user_email: 'ana@example.com' }],
    [
      'flattenall',
      { delimiter: '.' },
      { ...omit('user', 'tags'), 'user.name': 'Ana', 'user.email': 'ana@example.com', 'tags.0': 'a', 'tags.1': 'b' },
    ],
    ['jq', { query: '{id, n: .user.name}' }, { id: 7, n: 'Ana' }],
    ['jq', { query: 'empty' }, undefined],
    ['jq', { query: 'empty', prevent_data_dropping: true }, event],
    ['mask', { key: 'user.email' }, { ...event, user: { name: 'Ana', email: '***' } }],
    ['mask', { key: 'id', mode: { type: 'full', replacement: '-' } }, { ...event, id: '-' }],
    [
      'mask',
      { key: 'user.email', mode: { type: 'partial', replacement: '…', keep_first: 1, keep_last: 4 } },
      { ...event, user: { name: 'Ana', email: 'a….com' } },
    ],
    ['mask', { key: 'bytes', mode: { type: 'partial', keep_first: 2, keep_last: 2 } }, { ...event, bytes: '***' }],
    ['mask', { key: 'note' }, event],
    ['math_multiply_with_value', { key: 'bytes', value: 0.5 }, { ...event, bytes: 768 }],
    ['math_multiply_with_value', { key: 'bytes', new_key: 'bits', value: '8' }, { ...event, bits: 12288 }],
    ['math_multiply_with_value', { key: 'absent', value: 2 }, event],
    ['math_multiply_with_value', { key: 'user', value: 2 }, expect.stringMatching(/^not_convertible: /)],
    ['mutate_type', { key: 'bytes', type: 'int' }, { ...event, bytes: 1536 }],
    ['mutate_value_where_key_eq', { key: 'user.name', value: 1 }, { ...event, user: { ...person, name: 1 } }],
    ['mutate_value_where_key_eq', { key: 'absent', value: 1 }, event],
    [
      'mutate_value_where_key_eq_and_value_eq',
      { key: 'user.name', value: 'Ana', value_to_set: 'Bo' },
      { ...event, user: { ...person, name: 'Bo' } },
    ],
    ['mutate_value_where_key_eq_and_value_eq', { key: 'user.name', value: 'A', value_to_set: 'Bo' }, event],
    ['rename_key', { key: 'id', new_key: 'user.id' }, { ...omit('id'), user: { ...person, id: 7 } }],
    ['rename_key_where_value_eq', { key: 'id', new_key: 'nr', value: 7 }, { ...omit('id'), nr: 7 }],
    ['rename_key_where_value_eq', { key: 'id', new_key: 'nr', value: 8 }, event],
    ['utc_timestamp', { key: 'at', format: 'RFC3339' }, { ...event, at: '2026-03-18T12:34:56Z' }],
    ['add_id', { key: 'uid', type: 'uuid' }, { ...event, uid: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/) }],
    [
      'convert_timestamp',
      { source_key: 'time', target_key: 'unix', target_format: 'unix_milli' },
      { ...event, unix: Date.UTC(2026, 2, 18, 12, 34, 56, 250) },
    ],
    ['convert_cef', { key: 'user.name' }, event],
  ];

  test.each(cases)('%s %j', async (operation, given, expected) => {
    expect(await after(operation, given, event)).toEqual(expected);
  });

  test('there is a case for each operation', () => {
    const tested = new Set([...cases.map(([operation]) => operation), 'encrypt']);
    expect([...OPERATION_TYPES.keys()].filter((id) => !tested.has(id))).toEqual([]);
    expect(OPERATION_TYPES.size).toBe(21);
  });
});

const person = { name: 'Ana', email: 'ana@example.com' };
function watch(key: string, value: unknown) {
  return { key: 'level', value: 'high', key_to_watch: key, value_to_watch: value };
}
function omit(...keys: string[]): DataRecord {
  return Object.fromEntries(Object.entries(event).filter(([key]) => !keys.includes(key)));
}

describe('IDs', () => {
  test.each([
    ['uuid', /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/],
    ['uuidv4', /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/],
    ['uuidv7', /^019d00f1-2495-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/],
    ['ulid', /^01KM0F294N[\dA-HJKMNP-TV-Z]{16}$/],
  ])('%s: different for each record, the same in a redelivery', async (type, pattern) => {
    const config = { operations: [{ operation: 'add_id', arguments: { key: 'id', type } }] };
    const first = await run(config, [{}, {}]);
    const ids = first.map((outcome) => JSON.parse(String(outcome[0])).id);
    expect(ids[0]).toMatch(pattern);
    expect(ids[0]).not.toBe(ids[1]);
    expect(await run(config, [{}, {}])).toEqual(first);
    expect(await run(config, [{}, {}], 'other')).not.toEqual(first);
  });
});

function decrypt(text: unknown): string {
  const bytes = Buffer.from(String(text), 'base64');
  const decipher = createDecipheriv('aes-256-gcm', KEY, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8');
}
const keyed = (id: string) => ({ encryption_key: { id } });

describe('secrets', () => {
  test.each(['key-1', 'key-2'])('encrypts what the key of %s decrypts', async (id) => {
    const algorithm = { type: 'AES_256_GCM' };
    const text = await after('encrypt', { key: 'user.email', algorithm }, event, keyed(id));
    expect(decrypt(text.user.email)).toBe('ana@example.com');
    const object = await after('encrypt', { key: 'user' }, event, keyed(id));
    expect(JSON.parse(decrypt(object.user))).toEqual(person);
    const again = await after('encrypt', { key: 'user' }, event, keyed(id));
    expect(again.user).not.toBe(object.user);
    expect(await after('encrypt', { key: 'note' }, event, keyed(id))).toEqual(event);
  });

  test('masks the same value the same way, with the key of the organization', async () => {
    const given = { key: 'user.email', mode: { type: 'deterministic' } };
    const masked = await after('mask', given, event, { mask_key: { id: 'pass-1' } });
    const expected = createHmac('sha256', secrets['pass-1'] ?? '')
      .update('ana@example.com')
      .digest('hex');
    expect(masked).toEqual({ ...event, user: { name: 'Ana', email: expected } });
  });

  test.each([
    ['encrypt', { key: 'a' }, {}, '/secrets/encryption_key', 'required'],
    ['encrypt', { key: 'a' }, keyed('none'), '/secrets/encryption_key/id', 'unknown'],
    ['encrypt', { key: 'a' }, keyed('pass-1'), '/secrets/encryption_key', 'invalid'],
    ['encrypt', { key: 'a' }, { encryption_key: { value: 'canary-secret' } }, '/secrets/encryption_key', 'type'],
    ['encrypt', { key: 'a' }, { encryption_key: 'canary-secret' }, '/secrets/encryption_key', 'type'],
    ['encrypt', { key: 'a' }, { ...keyed('key-1'), other: { id: 'canary-secret' } }, '/secrets/other', 'unknown'],
    ['add', { key: 'a', value: 1 }, keyed('key-1'), '/secrets/encryption_key', 'unknown'],
    ['mask', { key: 'a', mode: { type: 'deterministic' } }, {}, '/secrets/mask_key', 'required'],
    ['mask', { key: 'a' }, { mask_key: { id: 'short' } }, '/secrets/mask_key', 'invalid'],
  ])('%s %j with %j is rejected at %s', async (operation, given, references, path, code) => {
    const config = { operations: [{ operation, arguments: given, secrets: references }] };
    const parsed = await parseTransform(config, { resolveSecret });
    expect(parsed).toMatchObject({ ok: false, problems: [{ path: `/operations/0${path}`, code }] });
    expect(JSON.stringify(parsed)).not.toContain('canary-secret');
  });

  test('where transforms have no secrets, an operation that needs one is rejected', async () => {
    const config = { operations: [{ operation: 'encrypt', arguments: { key: 'a' }, secrets: keyed('key-1') }] };
    const problem = { path: '/operations/0/secrets/encryption_key', code: 'not_supported' };
    expect(await parseTransform(config)).toMatchObject({ ok: false, problems: [problem] });
    expect(() => compileTransform(config)).toThrow(expect.objectContaining({ code: 'secret_unreadable' }));
  });
});

describe('conditions of a transform', () => {
  const conditions = { operator: 'and', conditions: [{ type_id: 'equals', config: { key: 'a', value: 1 } }] };
  const mark = { operation: 'add', arguments: { key: 'm', value: true } };
  const jq = { operation: 'jq', arguments: { query: 'del(.a) | ., .' } };
  const records = [{ a: 1 }, { a: 2 }, { a: 1, b: 0 }];

  test('without else_action, other records pass unchanged', async () => {
    const expected = [['{"a":1,"m":true}'], ['{"a":2}'], ['{"a":1,"b":0,"m":true}']];
    expect(await run({ conditions, operations: [mark] }, records)).toEqual(expected);
    expect(await run({ conditions, else_action: 'bypass', operations: [mark] }, records)).toEqual(expected);
  });

  test('a record that bypasses the first operation bypasses all of them', async () => {
    expect(await run({ conditions, operations: [mark, jq, mark] }, records)).toEqual([
      ['{"m":true}', '{"m":true}'],
      ['{"a":2}'],
      ['{"b":0,"m":true}', '{"b":0,"m":true}'],
    ]);
  });

  test('with else_action drop, other records are dropped', async () => {
    const dropping = { conditions, else_action: 'drop' };
    expect(await run({ ...dropping, operations: [jq] }, records)).toEqual([['{}', '{}'], [], ['{"b":0}', '{"b":0}']]);
    expect(await run({ ...dropping, operations: [] }, records)).toEqual([['{"a":1}'], [], ['{"a":1,"b":0}']]);
  });

  test('rejects an invalid condition or action with its path', async () => {
    const operations = [mark];
    const parsed = await parseTransform({ operations, conditions: { operator: 'maybe' }, else_action: 'keep' });
    const paths = parsed.ok ? [] : parsed.problems.map(({ path }) => path);
    expect(paths).toEqual(['/conditions/operator', '/else_action']);
  });
});
