import { afterAll, beforeAll, expect, test } from 'vitest';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { kcat, startKafka, type Kafka } from '../../../../test/support/kafka.js';
import { createEgress } from '@connector-frame/engine/egress';
import { ConnectorError, type DataRecord, type JsonValue, systemClock } from '@connector-frame/engine/connector-api';
import { createKafkaInput } from './input.js';

let cluster: Kafka;
beforeAll(async () => {
  cluster = await startKafka();
});
afterAll(() => cluster.close());

const egress = createEgress({ allow: ['127.0.0.0/8'] });

interface Run {
  records: DataRecord[];
  cursor: JsonValue | undefined;
}

/** Reads like the engine until `enough` returns true or `stop` is aborted, as for a pause. */
async function read(
  settings: Record<string, unknown>,
  enough: (records: readonly DataRecord[], pages: number) => boolean,
  cursor?: JsonValue,
  deliver: (records: readonly DataRecord[]) => Promise<void> = () => Promise.resolve(),
  stop = new AbortController(),
): Promise<Run> {
  const config = {
    settings: {
      bootstrap_servers: cluster.brokers,
      auto_offset_reset: 'smallest',
      session_timeout_ms: 3_000,
      ...settings,
    },
    secrets: {},
  };
  const input = createKafkaInput(config, { type: typeOf('input:kafka'), egress, clock: systemClock });
  const run: Run = { records: [], cursor };
  let pages = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      for await (const page of input.pages(run.cursor, stop.signal)) {
        await deliver(page.records);
        run.records.push(...page.records);
        run.cursor = page.cursor;
        pages += 1;
        if (enough(run.records, pages)) {
          stop.abort();
          break;
        }
      }
      return run;
    } catch (error) {
      // Kafka may ask to retry while the group rebalances; the runner then continues at the cursor.
      if (!(error instanceof ConnectorError && error.code === 'upstream_error') || attempt === 5) throw error;
    }
  }
}

const upTo = (count: number) => (records: readonly DataRecord[]) => records.length >= count;
const produce = async (topic: string, lines: readonly string[], ...args: string[]): Promise<void> =>
  void (await kcat(cluster.brokers, ['-P', '-t', topic, ...args], `${lines.join('\n')}\n`));
const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_each, index) => JSON.stringify({ n: from + index }));
const numbers = (records: readonly DataRecord[]): number[] =>
  records.map(({ n }) => Number(n)).toSorted((a, b) => a - b);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_each, index) => from + index);

test.concurrent('reads messages as records with their metadata', async () => {
  await produce(
    'shapes',
    ['{"n":1,"offset":"mine","big":12345678901234567890}'],
    '-p',
    '2',
    '-k',
    'key-1',
    '-H',
    'a=b',
    '-H',
    'c=d',
  );
  await produce('shapes', ['plain text'], '-p', '2');
  const { records } = await read({ topics: ['shapes'], group_id: 'g-shapes', key_field: 'key' }, upTo(2));
  expect(records).toEqual([
    {
      n: 1,
      offset: 'mine',
      big: '12345678901234567890',
      topic: 'shapes',
      partition: 2,
      _offset: 0,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
      key: 'key-1',
      headers: { a: 'b', c: 'd' },
    },
    expect.objectContaining({ message: 'plain text', topic: 'shapes', partition: 2, offset: 1 }) as unknown,
  ]);
});

test.concurrent.each(['gzip', 'snappy', 'lz4'])(
  'reads messages that librdkafka compressed with %s',
  async (compression) => {
    await produce(`packed-${compression}`, numbered(0, 3_000), '-z', compression);
    const { records } = await read({ topics: [`packed-${compression}`], group_id: `g-${compression}` }, upTo(3_000));
    expect(numbers(records)).toEqual(range(0, 3_000));
  },
);

test.concurrent('delivers 5,000 messages once each across pauses', async () => {
  await produce('many', numbered(0, 2_500));
  // Commit after every page: on a busy machine the member may be removed from the group, and then
  // there is no final commit.
  const settings = { topics: ['many'], group_id: 'g-many', commit_interval_ms: 0 };
  const first = await read(settings, upTo(700));
  await produce('many', numbered(2_500, 5_000));
  const second = await read(settings, upTo(900), first.cursor);
  const third = await read(settings, upTo(5_000 - first.records.length - second.records.length), second.cursor);
  expect(numbers([...first.records, ...second.records, ...third.records])).toEqual(range(0, 5_000));
  // The group's offsets lack only the last pages: a reader without the cursor rereads no more than
  // those.
  const other = await read(settings, (_records, pages) => pages === 4);
  expect(other.records.length).toBeLessThanOrEqual(1_000);
});

test.concurrent('redelivers only the page that was not acknowledged', async () => {
  await produce('again', numbered(0, 100), '-p', '1');
  const settings = { topics: ['again'], group_id: 'g-again' };
  const failing = read(settings, upTo(100), undefined, async (records) => {
    if (records.length > 0) throw new Error('output');
  });
  await expect(failing).rejects.toThrow('output');
  const { records, cursor: after } = await read(settings, upTo(100));
  expect(numbers(records)).toEqual(range(0, 100));
  await produce('again', numbered(100, 101), '-p', '1');
  expect(numbers((await read(settings, upTo(1), after)).records)).toEqual([100]);
});

test.concurrent('starting at new messages, does not skip those that arrive during a pause', async () => {
  await produce('fresh', numbered(0, 10));
  const settings = { topics: ['fresh'], group_id: 'g-fresh', auto_offset_reset: 'largest' };
  const { records, cursor } = await read(settings, (_records, pages) => pages === 1);
  expect(records).toEqual([]);
  await produce('fresh', numbered(10, 20));
  expect(numbers((await read(settings, upTo(10), cursor)).records)).toEqual(range(10, 20));
});

test.concurrent('reports a group without an offset if none may be chosen', async () => {
  await produce('strict', numbered(0, 1));
  const settings = { topics: ['strict'], group_id: 'g-strict', auto_offset_reset: 'error' };
  await expect(read(settings, upTo(1))).rejects.toMatchObject({ code: 'no_position', kind: 'permanent' });
});

test.concurrent('reads topics that match a pattern', async () => {
  await produce('logs-a', numbered(0, 5));
  await produce('logs-b', numbered(5, 10));
  await produce('other-logs', numbered(10, 15));
  const { records } = await read({ topics: ['^logs-.*'], group_id: 'g-pattern' }, upTo(10));
  expect(numbers(records)).toEqual(range(0, 10));
  expect(() =>
    createKafkaInput(
      { settings: { bootstrap_servers: cluster.brokers, topics: ['^(a+)+$'], group_id: 'g' }, secrets: {} },
      { type: typeOf('input:kafka'), egress, clock: systemClock },
    ),
  ).toThrow(expect.objectContaining({ code: 'invalid_config' }));
});

test.concurrent('two members share the partitions and lose nothing when one leaves', async ({ expect }) => {
  const settings = { topics: ['shared'], group_id: 'g-shared', commit_interval_ms: 100 };
  // kcat would put nearly all of them into one partition, which only one of the members reads.
  for (const partition of [0, 1, 2, 3])
    await produce('shared', numbered(partition * 1_000, (partition + 1) * 1_000), '-p', String(partition));
  const seen: DataRecord[] = [];
  const slowly = async (records: readonly DataRecord[]): Promise<void> => {
    seen.push(...records);
    await new Promise((resolve) => setTimeout(resolve, 60));
  };
  // Either member may read the last records, so neither can wait for another page to notice it.
  const stop = new AbortController();
  let second: Promise<unknown> | undefined;
  const first = read(
    settings,
    (records) => {
      if (records.length > 200) second ??= read(settings, () => false, undefined, slowly, stop);
      return records.length > 1_500;
    },
    undefined,
    slowly,
  );
  await first;
  await expect.poll(() => new Set(numbers(seen)).size, { timeout: 120_000 }).toBe(4_000);
  stop.abort();
  await second;
  expect(new Set(numbers(seen))).toEqual(new Set(range(0, 4_000)));
  expect(seen.length).toBeLessThan(4_000 + 2_500);
});

test.concurrent('a blocked broker is permanent, an unreachable one is retried', async () => {
  const config = { settings: { bootstrap_servers: cluster.brokers, topics: ['a'], group_id: 'g' }, secrets: {} };
  const closed = createKafkaInput(config, {
    type: typeOf('input:kafka'),
    egress: createEgress({ allow: [] }),
    clock: systemClock,
  });
  if (closed.kind !== 'pages') throw new Error('no pages');
  const { signal } = new AbortController();
  await expect(closed.pages(undefined, signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'egress_refused',
    kind: 'permanent',
  });
  await expect(read({ bootstrap_servers: '127.0.0.1:1', topics: ['a'], group_id: 'g' }, upTo(1))).rejects.toMatchObject(
    {
      code: 'connect_failed',
      kind: 'retry',
    },
  );
});
