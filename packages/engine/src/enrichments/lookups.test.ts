import { expect, test } from 'vitest';
import { MAX_RESULT_BYTES, type Enrichment, type EnrichmentResult } from '../connector-api/enrichment.js';
import { ManualClock } from '../testing/manual-clock.js';
import { enrichRecord, keyOf } from './enrich-record.js';
import { Lookups } from './lookups.js';
import { tryEnrichment } from './try-enrichment.js';

const never = new AbortController().signal;

function table(respond: (key: string) => EnrichmentResult | undefined, cacheMs?: number) {
  const asked: string[] = [];
  const enrichment: Enrichment = {
    joinPath: ['id'],
    destination: ['found'],
    omitMetadata: true,
    unmatched: { code: 'key_not_found', message: 'key not found', data: null },
    example: { name: 'Example' },
    ...(cacheMs !== undefined && { cacheMs }),
    lookUp(keys) {
      asked.push(...keys);
      const results = keys.map((key) => [key, respond(key)] as const);
      return Promise.resolve({
        results: new Map(results.filter((entry): entry is [string, EnrichmentResult] => entry[1] !== undefined)),
      });
    },
  };
  const clock = new ManualClock();
  const lookups = new Lookups(enrichment, clock, never);
  const find = async (...keys: string[]) => {
    const found = new Map<string, EnrichmentResult>();
    await lookups.resolve(new Set(keys), found);
    return keys.map((key) => found.get(key));
  };
  return { enrichment, asked, clock, find };
}

const data = (value: string): EnrichmentResult => ({ code: 'success', message: 'key found', data: value });

test('keeps results, also those of keys without a match, for ten seconds', async () => {
  const { find, asked, clock, enrichment } = table((key) => (key === 'a' ? data('A') : undefined));
  expect(await find('a', 'b')).toEqual([data('A'), enrichment.unmatched]);
  clock.advance(9_999);
  await find('a', 'b');
  expect(asked).toEqual(['a', 'b']);
  clock.advance(1);
  await find('a', 'b');
  expect(asked).toEqual(['a', 'b', 'a', 'b']);
});

test('a clock that is set back by a day does not keep results for a day', async () => {
  const { find, asked, clock } = table(data);
  await find('a');
  clock.advance(-86_400_000);
  await find('a');
  expect(asked).toEqual(['a', 'a']);
});

test('a result may be kept for a time of its own, and those of local tables are not kept', async () => {
  const { find, asked, clock } = table((key) => ({ ...data(key), cacheMs: key === 'brief' ? 10 : 1_000 }));
  await find('brief', 'long');
  clock.advance(10);
  await find('brief', 'long');
  expect(asked).toEqual(['brief', 'long', 'brief']);
  const local = table(data, 0);
  await local.find('a');
  await local.find('a');
  expect(local.asked).toEqual(['a', 'a']);
});

test('keeps a bounded number of results, and a bounded size; a result that is too large rejects the record', async () => {
  const { find, asked } = table((key) => data('x'.repeat(Number(key.split(' ')[1]))));
  expect(await find(`a ${MAX_RESULT_BYTES}`, 'a 5')).toEqual([
    { rejected: `result_too_large: More than ${MAX_RESULT_BYTES} bytes.` },
    data('xxxxx'),
  ]);
  for (let n = 0; n < 300; n += 1) await find(`${n} ${MAX_RESULT_BYTES - 2}`);
  asked.length = 0;
  await find('299 65534', '0 65534');
  expect(asked).toEqual(['0 65534']);

  const small = table(() => data(''));
  await small.find('first');
  for (let n = 0; n < 20_000; n += 500)
    await small.find(...Array.from({ length: 500 }, (_, index) => String(n + index)));
  small.asked.length = 0;
  await small.find('first', '19999');
  expect(small.asked).toEqual(['first']);
});

test('a key is the text of a string, a number or a boolean; nothing else is one', () => {
  const keys = ['u-1', '', 7, 2 ** 53, 1.5, false, null, undefined, {}, ['a']].map((id) =>
    keyOf({ joinPath: ['id'] }, { id }),
  );
  expect(keys).toEqual([
    'u-1',
    undefined,
    '7',
    undefined,
    '1.5',
    'false',
    ...Array.from({ length: 4 }, () => undefined),
  ]);
});

test('names from prototypes are keys and paths like any others', async () => {
  const { find } = table((key) => (key === 'a' ? data('A') : undefined));
  expect(await find('__proto__', 'constructor')).toEqual([
    expect.objectContaining({ code: 'key_not_found' }),
    expect.objectContaining({ code: 'key_not_found' }),
  ]);
  const target = { destination: ['__proto__', 'x'], omitMetadata: true };
  expect(enrichRecord(target, { a: 1 }, 'k', data('polluted'))).toEqual(['{"a":1,"__proto__":{"x":"polluted"}}']);
  expect({}).not.toHaveProperty('x');
});

test('a record that grows beyond the limit of a batch is rejected', () => {
  const record = { text: 'x'.repeat(500 * 1024) };
  const large: EnrichmentResult = { code: 'success', message: '', data: 'y'.repeat(60_000) };
  expect(enrichRecord({ destination: ['d'], omitMetadata: true }, record, 'k', large)).toBe(
    'too_large: The record grew too large.',
  );
});

test('can be tried on one record, with its example or with a lookup', async () => {
  const { enrichment, asked } = table((key) => (key === 'a' ? data('A') : { rejected: 'rate_limited' }));
  const attempt = (id: string, mocked: boolean) => tryEnrichment(enrichment, { id }, { signal: never, mocked });
  expect(await attempt('a', true)).toEqual({ line: '{"id":"a","found":{"name":"Example"}}' });
  expect(asked).toEqual([]);
  expect(await attempt('a', false)).toEqual({ line: '{"id":"a","found":"A"}' });
  expect(await attempt('b', false)).toEqual({ rejected: 'rate_limited' });
});
