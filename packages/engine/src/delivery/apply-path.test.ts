import { expect, test } from 'vitest';
import { compilePaths, type Path } from './paths.js';
import { Counters } from '../pipeline/counters.js';
import { RecordSamples } from '../pipeline/record-samples.js';
import { EdgeSchemas } from '../schema/edge-schemas.js';
import type { DeadLetter } from './dead-letters.js';
import { applyPath } from './apply-path.js';
import { createBatch, MAX_BATCH_BYTES } from '../connector-api/batch.js';
import { isRecord } from '../connector-api/record.js';
import { graph } from '../testing/pipeline-fixture.js';
import { randomRecord, seededRandom } from '../testing/random.js';
import { compileTransform } from '../transforms/compile-transform.js';
import { MUTATED_TYPES, TIMESTAMP_FORMATS, type TransformConfig } from '../transforms/operation.js';
import { parseTransform } from '../transforms/parse-transform.js';

const never = new AbortController().signal;
const definition = graph('in a out', 'in>a a>out');

function pathOver(transform: TransformConfig): Path {
  const path = compilePaths(definition, new Map([['a', compileTransform(transform)]])).get('out')?.[0];
  if (!path) throw new Error('There is no path.');
  return path;
}

async function go(transform: TransformConfig, lines: readonly string[]) {
  const letters: DeadLetter[] = [];
  const counters = new Counters(['in', 'a', 'out']);
  const arrived = await applyPath(pathOver(transform), createBatch('b', lines), {
    counters,
    samples: new RecordSamples(() => 0),
    schemas: new EdgeSchemas(() => 0),
    now: Date.UTC(2026, 0, 1),
    aborted: never,
    reject: (more) => letters.push(...more),
  });
  return { arrived: arrived ?? [], letters, node: counters.node('a') };
}

const PATHS = [
  'a',
  'a.b',
  'b.0',
  'c d',
  'x\\.y',
  '__proto__',
  '__proto__.polluted',
  'constructor.prototype',
  '0',
  'é.a',
  'new.deep',
];
/** Malicious or malformed records. */
const UNKIND = [
  '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
  `{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`,
  `{"a":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
  `{"a":[${'0,'.repeat(20_000)}0]}`,
  `{"a":"${'x'.repeat(MAX_BATCH_BYTES - 20)}"}`,
  '{"a":1e999,"b":-0,"c d":123456789012345678901234567890,"a_b":1,"a":{"b":2}}',
  '{"a":"\\ud800","b":"\\u0000","":{"":""}}',
  '[1]',
  'nonsense',
  '',
];

/** Returns a random valid operation. */
function randomOperation(random: () => number): object {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const key = pick(PATHS);
  return (
    pick([
      { operation: 'rename_key', arguments: { key, new_key: pick(PATHS) } },
      { operation: 'drop_key', arguments: { key } },
      { operation: 'add', arguments: { key, value: randomRecord(random) } },
      { operation: 'flatten', arguments: { key, delimiter: pick(['_', '', '.', '__proto__']) } },
      { operation: 'flatten', arguments: { delimiter: pick(['_', '']) } },
      { operation: 'mutate_type', arguments: { key, type: pick(MUTATED_TYPES) } },
      { operation: 'timestamp', arguments: { key, format: pick(TIMESTAMP_FORMATS) } },
    ]) ?? {}
  );
}

test('any transform turns any line into a record or a dead letter without throwing', async () => {
  const random = seededRandom(41);
  for (let round = 0; round < 120; round += 1) {
    const operations = Array.from({ length: 1 + Math.floor(random() * 4) }, () => randomOperation(random));
    const parsed = await parseTransform({ operations });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const lines = [...UNKIND, ...Array.from({ length: 20 }, () => JSON.stringify(randomRecord(random)))];
    const { arrived, letters, node } = await go(parsed.transform, lines);
    const records = arrived.flatMap((batch) => batch.lines.map((line, index) => ({ line, id: batch.recordId(index) })));
    expect(records.length + letters.length).toBe(lines.length);
    expect(new Set([...records.map(({ id }) => id), ...letters.map(({ recordId }) => recordId)]).size).toBe(
      lines.length,
    );
    for (const { line } of records) expect(isRecord(JSON.parse(line))).toBe(true);
    for (const batch of arrived)
      expect(Math.max(...batch.lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(MAX_BATCH_BYTES);
    expect(node.egress.records).toBe(records.length);
    expect({}).not.toHaveProperty('polluted');
  }
});

test('jq turns any line into a record or a dead letter', async () => {
  const random = seededRandom(42);
  const lines = [...UNKIND, ...Array.from({ length: 200 }, () => JSON.stringify(randomRecord(random)))];
  for (const query of [
    '.',
    '.a |= tostring',
    'if .a then . else .b end',
    '[paths] | {paths: .}',
    'with_entries(.key |= ascii_downcase)',
  ]) {
    const { arrived, letters } = await go({ operations: [{ operation: 'jq', arguments: { query } }] }, lines);
    const records = arrived.flatMap((batch) => batch.lines);
    expect(records.length + letters.length).toBe(lines.length);
    for (const line of records) expect(isRecord(JSON.parse(line))).toBe(true);
    if (query === '.')
      expect(letters.map(({ line }) => line)).toEqual(expect.arrayContaining(['"[1]"', '"nonsense"', '""']));
  }
});

test('with prevent_data_dropping, a record that jq would drop is unchanged', async () => {
  const lines = [0, 1, 2, 3].map((n) => JSON.stringify({ n }));
  const query = 'if .n == 3 then error("no") else select(.n == 1) | .kept = true end';
  const run = (more: object) =>
    go({ operations: [{ operation: 'jq', arguments: { query, ...more } }] }, lines).then(({ arrived, letters }) => [
      arrived.flatMap((batch) => batch.lines),
      letters.length,
    ]);
  expect(await run({})).toEqual([['{"n":1,"kept":true}'], 1]);
  expect(await run({ prevent_data_dropping: true })).toEqual([['{"n":0}', '{"n":1,"kept":true}', '{"n":2}'], 1]);
});

test('a record that jq passes through is unchanged', async () => {
  const random = seededRandom(43);
  const lines = Array.from({ length: 500 }, () => JSON.stringify(randomRecord(random)));
  const { arrived } = await go({ operations: [{ operation: 'jq', arguments: { query: '.' } }] }, lines);
  expect(arrived).toHaveLength(1);
  expect(arrived[0]?.id).toBe('b');
  expect(arrived[0]?.lines).toEqual(lines);
});
