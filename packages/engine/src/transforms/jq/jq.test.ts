import { expect, test } from 'vitest';
import { parseTransform } from '../parse-transform.js';
import { checkProgram } from './check-program.js';
import { JqProgram } from './jq-program.js';

const bounds = { signal: new AbortController().signal, maxBytes: 32 * 1024 * 1024, maxMs: 10_000 };
const CANARY = 'canary-record-secret';

const run = (query: string, ...lines: string[]) => new JqProgram(query).run(lines, bounds);

test.each([
  ['.', '{"a":1}', ['{"a":1}']],
  ['{user: .actor.email}', '{"actor":{"email":"a@example.com"}}', ['{"user":"a@example.com"}']],
  ['empty', '{"a":1}', []],
  ['select(.a > 1)', '{"a":1}', []],
  ['.list[]', '{"list":[{"a":1},{"a":2}]}', ['{"a":1}', '{"a":2}']],
  ['., .', '{"é":"ü\\n\\u0000"}', ['{"é":"ü\\n\\u0000"}', '{"é":"ü\\n\\u0000"}']],
  ['.["__proto__"] = {a: 1} | .constructor = 2', '{}', ['{"__proto__":{"a":1},"constructor":2}']],
  ['try error("x") catch {caught: .}', '{}', ['{"caught":"x"}']],
  ['limit(3; repeat({a: 1}))', '{}', ['{"a":1}', '{"a":1}', '{"a":1}']],
  ['def f: .a; {b: f} # a comment that goes on \\', '{"a":1}', ['{"b":1}']],
  // Numbers that are passed through keep their digits; arithmetic uses doubles.
  [
    '{same: .n, more: (.n + 1), text: (.n | tostring)}',
    '{"n":100000000000000000001}',
    ['{"same":100000000000000000001,"more":1e+20,"text":"100000000000000000001"}'],
  ],
  ['.a', '{"a":1}', 'jq_not_an_object'],
  ['., 1', '{"a":1}', 'jq_not_an_object'],
  ['[.]', '{}', 'jq_not_an_object'],
  ['tostring', '{}', 'jq_not_an_object'],
  ['., error', '{"a":1}', 'jq_error'],
  ['.a.b', '{"a":1}', 'jq_error'],
  ['error(null)', '{}', 'jq_error'],
])('%s converts %s to %j', async (query, line, expected) => {
  expect(await run(query, line)).toEqual([expected]);
});

const record = (n: number) => JSON.stringify({ n, secret: CANARY });

test('rejects a record without naming its data and processes the others', async () => {
  const outcomes = await run(
    'if .n == 1 then error(.secret) elif .n == 2 then .secret.x else . end',
    ...[0, 1, 2, 3].map(record),
  );
  expect(outcomes).toEqual([[record(0)], 'jq_error', 'jq_error', [record(3)]]);
});

test.each([
  ['.[', 'Line 1: this is no valid jq.'],
  ['.a\n|\nnothing(1)', 'Line 3: nothing/1 is not defined.'],
  ['$secret', 'Line 1: $secret is not defined.'],
  ['.a) | (.b', 'Line 1: this is no valid jq.'],
  ['.; def input: 1; .', 'Line 1: this is no valid jq.'],
  ['input', "input can't be used: a program sees one record and nothing else."],
  ['[inputs]', "inputs can't be used: a program sees one record and nothing else."],
  ['first(inputs)', "inputs can't be used: a program sees one record and nothing else."],
  ['{f: input_filename}', "input_filename can't be used: a program sees one record and nothing else."],
  ['{l: input_line_number}', "input_line_number can't be used: a program sees one record and nothing else."],
  ['halt', "halt can't be used: a program sees one record and nothing else."],
  ['"x" | halt_error', "halt_error can't be used: a program sees one record and nothing else."],
  ['halt_error(0)', "halt_error can't be used: a program sees one record and nothing else."],
  ['"a" | modulemeta', "modulemeta can't be used: a program sees one record and nothing else."],
  ['get_search_list', "get_search_list can't be used: a program sees one record and nothing else."],
  ['import "a" as a; .', "Line 1: modules can't be used."],
  ['include "a"; .', "Line 1: modules can't be used."],
  ['import "/etc/passwd" as $data; .', "Line 1: modules can't be used."],
  ['"x" * 1000000000', 'It needs too much memory before it meets a record.'],
])('rejects %s when it is saved: %s', async (query, expected) => {
  expect(await checkProgram(query)).toBe(expected);
});

test('does not run a program that was rejected when it was saved', async () => {
  for (const query of ['input', '[inputs]', 'halt', 'include "a"; .', '.['])
    expect(await run(query, '{"a":1}', '{"a":2}')).toEqual(['jq_invalid', 'jq_invalid']);
});

test('a program has no access to the environment, files or the process', async () => {
  const [outcome] =
    (await run(
      '{env: env, ENV: $ENV, where: $__loc__, args: $ARGS, d: (debug | stderr | debug(1) | .a)}',
      '{"a":1}',
    )) ?? [];
  expect(outcome).toEqual([
    '{"env":{},"ENV":{},"where":{"file":"<top-level>","line":1},"args":{"positional":[],"named":{}},"d":1}',
  ]);
});

test('records of one run do not affect each other', async () => {
  const lines = Array.from({ length: 300 }, (_, n) => JSON.stringify({ n }));
  expect(await run('{n, before: .before, line: $__loc__.line}', ...lines)).toEqual(
    lines.map((_, n) => [JSON.stringify({ n, before: null, line: 1 })]),
  );
});

const put = (query: string, path: string[], line: string) => new JqProgram(query, path).run([line], bounds);

test('puts an output that is not an object at the key', async () => {
  const line = '{"user":"ANA","n":100000000000000000001}';
  expect(await put('.user | ascii_downcase # so \\', ['a', '"b'], line)).toEqual([
    ['{"user":"ANA","n":100000000000000000001,"a":{"\\"b":"ana"}}'],
  ]);
  expect(await put('1, 2', ['n'], '{}')).toEqual([['{"n":1}', '{"n":2}']]);
  expect(await put('empty', ['n'], '{}')).toEqual([[]]);
  expect(await put('1', ['user', 'name'], line)).toEqual(['jq_error']);
});

test.each([
  ['last(range(1e12))', /^jq_timeout$/],
  ['[limit(infinite; repeat(1))]', /^jq_timeout$/],
  ['def f: f; f', /^jq_timeout$/],
  ['("a" * 40 + "b") | test("^(a+)+$")', /^jq_(timeout|error)$/],
  ['[range(1e9) | tostring]', /^jq_(memory|timeout)$/],
  ['def f: [f]; f', /^jq_(memory|timeout)$/],
  ['reduce range(50) as $i ("x"; . + .)', /^jq_memory$/],
  ['setpath(["a", 1e9]; 1)', /^jq_(memory|error)$/],
  ['setpath(["a", 536870911]; 1)', /^jq_(memory|error)$/],
  ['getpath([range(1e6) | "a"])', /^jq_(error|not_an_object|memory)$/],
  ['reduce range(1e6) as $i (.; {a: .})', /^jq_(error|memory|timeout)$/],
  ['repeat(.)', /^jq_(output_too_large|timeout)$/],
  ['range(10001) | {a: .}', /^jq_(output_too_large|timeout)$/],
  ['{a: ("x" * 5000000)}', /^jq_output_too_large$/],
  ['[65536000000, -1] | implode', /^jq_(not_an_object|error)$/],
])('%s: rejects the record and processes the ones around it', async (query, reason) => {
  const outcomes = await run(`if .bad then (${query}) else . end`, '{"n":0}', '{"bad":true}', '{"n":1}');
  // On a slow machine, any of them may time out.
  const refused: unknown = expect.stringMatching(new RegExp(`^jq_timeout$|${reason.source}`));
  expect(outcomes).toEqual([['{"n":0}'], refused, ['{"n":1}']]);
});

test('programs that hang do not delay programs that succeeded, and end at their limit', async () => {
  const lines = Array.from({ length: 40 }, (_, n) => JSON.stringify({ n }));
  const well = new JqProgram('{n}');
  await well.run(lines, bounds);
  const ended: string[] = [];
  const hanging = Array.from({ length: 2 }, async () => {
    const outcomes = await new JqProgram('last(range(1e12))').run(['{}'], bounds);
    ended.push('hung');
    return outcomes;
  });
  for (let round = 0; round < 10; round += 1)
    expect(await well.run(lines, bounds)).toEqual(lines.map((line) => [line]));
  ended.push('well');
  expect((await Promise.all(hanging)).flat()).toEqual(['jq_timeout', 'jq_timeout']);
  expect(ended.at(-1)).toBe('hung');
  // Forty records that would take a second each.
  const outcomes = await new JqProgram('last(range(1e12))').run(lines, { ...bounds, maxMs: 1_500 });
  expect(outcomes).toEqual(lines.map(() => 'jq_timeout'));
});

test('an abort waits for the current record at most', async () => {
  const stop = new AbortController();
  const lines = Array.from({ length: 50 }, () => '{}');
  const hung = new JqProgram('last(range(1e12))').run(lines, { ...bounds, signal: stop.signal });
  stop.abort();
  expect(await hung).toBeUndefined();
});

test('limits the output of a whole batch', async () => {
  const lines = Array.from({ length: 30 }, () => JSON.stringify({ text: 'x'.repeat(100_000) }));
  const outcomes = await new JqProgram('limit(20; repeat(.))').run(lines, { ...bounds, maxBytes: 10_000_000 });
  expect(outcomes?.[0]).toHaveLength(20);
  expect(outcomes?.at(-1)).toBe('jq_output_too_large');
});

const long = (length: number) => `{a: ("${'€'.repeat(Math.floor(length / 3) - 10)}" | length)}`;
const transform = (query: unknown) => ({ operations: [{ operation: 'jq', arguments: { query } }] });

test('accepts a program of the maximum length; rejects longer and invalid ones', async () => {
  expect(await parseTransform(transform(long(16 * 1024)))).toMatchObject({ ok: true });
  expect(await run(long(16 * 1024), '{}')).toEqual([[expect.stringMatching(/^\{"a":\d{4}\}$/)]]);
  for (const [query, code] of [
    [long(20 * 1024), 'too_long'],
    ['', 'required'],
    [7, 'type'],
    ['. | \0 .', 'invalid'],
    ['.[', 'invalid'],
  ])
    expect(await parseTransform(transform(query))).toEqual({
      ok: false,
      problems: [expect.objectContaining({ path: '/operations/0/arguments/query', code })],
    });
});
