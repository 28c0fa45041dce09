import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import type { Database } from '../store/database.js';
import { createUsage, type UsageNode } from '../store/usage.js';
import { createUsageWriter, type UsageWriter } from '../store/usage-writer.js';
import { dayOf, DAY, HOUR, MINUTE, minuteOf } from './periods.js';
import { UsageMeter } from './usage-meter.js';
import { createUsageTidying } from './usage-tidying.js';

const START = Date.UTC(2030, 0, 31, 23, 58, 30);

const nodeOf = (pipelineId: string, nodeId: 'in' | 'out', rest: Partial<UsageNode> = {}): UsageNode => ({
  organizationId: 'org',
  parentId: 'parent',
  pipelineId,
  nodeId,
  componentType: nodeId === 'in' ? 'input' : 'output',
  componentId: `${nodeId} component`,
  type: nodeId === 'in' ? 'monad-http' : 's3',
  inputId: 'in component',
  ...rest,
});
const nodesOf = (pipelineId: string, rest: Partial<UsageNode> = {}) =>
  new Map((['in', 'out'] as const).map((id) => [id, nodeOf(pipelineId, id, rest)]));

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe.each(eachDatabase())('the usage meter on $name', (databases) => {
  let database: Database;
  let folder: string;
  let now: number;
  let writer: UsageWriter;
  let failures: unknown[];

  beforeAll(async () => {
    database = await databases.open();
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'usage-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    now = START;
    failures = [];
    writer = createUsageWriter(database);
    await database.script((run) =>
      run('truncate usage_series, usage_counts, usage_days, usage_writers, usage_events restart identity cascade'),
    );
  });

  const open = (holder = 'engine', own = writer) =>
    UsageMeter.open({
      folder: join(folder, holder),
      holder,
      writer: own,
      usage: createUsage(database.queries),
      now: () => now,
      onFailure: (error) => failures.push(error),
    });
  const sumOf = async (filter = {}) => {
    const range = { organizationIds: ['org'], from: 0, to: 2 ** 31 - 1, ...filter };
    const rows = await createUsage(database.queries).sum(range, ['nodeId']);
    return Object.fromEntries(
      rows.map(({ nodeId, ingressBytes, egressBytes, errors, unfilteredBytes }) => [
        nodeId,
        [ingressBytes, egressBytes, errors, unfilteredBytes],
      ]),
    );
  };

  it('adds what nodes count to their minutes, and outlives pipelines that change', async () => {
    const meter = await open();
    const first = meter.of(nodesOf('p'));
    first.add('in', 'ingress', 2, 20);
    first.add('out', 'egress', 1, 8);
    first.addErrors('out', 1);
    first.addUnfiltered('out', 2, 20);
    first.add('no node', 'ingress', 1, 1);
    await meter.flush();
    // The runner is recreated, with the same nodes, then with another output.
    meter.of(nodesOf('p')).add('out', 'egress', 1, 5);
    first.add('out', 'egress', 1, 7);
    await meter.flush();
    now += MINUTE;
    meter.of(nodesOf('p', { componentId: 'other', type: 'http' })).add('out', 'egress', 1, 100);
    await meter.flush();
    expect(await sumOf()).toEqual({ in: [20, 0, 0, 0], out: [0, 120, 1, 20] });
    expect(await sumOf({ types: ['s3'] })).toEqual({ out: [0, 20, 1, 20] });
    const rows = await createUsage(database.queries).sum(
      { organizationIds: [], parentId: 'parent', from: 0, to: minuteOf(now) + 1 },
      ['type'],
      1,
    );
    expect(rows.map(({ start, type, egressBytes }) => [start - minuteOf(START), type, egressBytes])).toEqual([
      [0, 'monad-http', 0],
      [0, 's3', 20],
      [1, 'http', 100],
    ]);
  });

  it('loses nothing in a kill, whatever was flushed, and nothing twice', async () => {
    let fail: 'before' | 'after' | undefined;
    const flaky: UsageWriter = {
      ...writer,
      async add(batch) {
        if (fail === 'before') throw new Error('down');
        const sums = await writer.add(batch);
        if (fail === 'after') throw new Error('lost response');
        return sums;
      },
    };
    for (const [index, failing] of ([undefined, 'before', 'after', 'before', undefined] as const).entries()) {
      // The process before was killed: nothing was closed.
      const meter = await open('engine', flaky);
      meter.of(nodesOf('p')).add('in', 'ingress', 1, 1);
      await turn();
      fail = failing;
      const flushed = meter.flush();
      if (failing) await expect(flushed).rejects.toThrow();
      else await flushed;
      meter.of(nodesOf('p')).add('in', 'ingress', 1, 10);
      await turn();
      fail = undefined;
      if (index === 2) await meter.flush();
    }
    const last = await open();
    await last.flush();
    expect(await sumOf()).toEqual({ in: [55, 0, 0, 0] });
    expect(await readdir(join(folder, 'engine'))).toEqual([]);
  });

  it('ignores an incomplete line, and writes amounts again that the disk did not take', async () => {
    const meter = await open();
    const node = meter.of(nodesOf('p'));
    node.add('in', 'ingress', 1, 1);
    await turn();
    const [name = ''] = await readdir(join(folder, 'engine'));
    const path = join(folder, 'engine', name);
    await appendFile(path, '[0,31');
    node.add('in', 'ingress', 1, 2);
    await turn();
    // The torn write corrupts the following line, too; the next line contains all amounts.
    node.add('in', 'ingress', 1, 4);
    await turn();
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(5);
    await (await open()).flush();
    expect(await sumOf()).toEqual({ in: [7, 0, 0, 0] });
    // Without its folder, the journal can't be written. The amounts are in memory.
    await rm(folder, { recursive: true });
    const without = await open('other').catch(() => undefined);
    expect(without).toBeDefined();
    await rm(join(folder, 'other'), { recursive: true });
    const lost = without?.of(nodesOf('p'));
    lost?.add('in', 'ingress', 1, 8);
    await turn();
    lost?.add('in', 'ingress', 1, 16);
    await turn();
    expect(failures).toHaveLength(1);
    await without?.flush();
    expect(await sumOf()).toEqual({ in: [31, 0, 0, 0] });
  });

  it('keeps its journal small while the database is away', async () => {
    const meter = await open('engine', { ...writer, add: () => Promise.reject(new Error('down')) });
    const node = meter.of(nodesOf('p'));
    const count = 40_000;
    for (let n = 0; n < count; n += 1) {
      node.add('in', 'ingress', 1, 1);
      await Promise.resolve();
      if (n === count / 2) await expect(meter.flush()).rejects.toThrow('down');
    }
    const names = await readdir(join(folder, 'engine'));
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, 'engine', name))).size));
    expect([names.length, Math.max(...sizes) < 1_200_000]).toEqual([2, true]);
    await (await open()).flush();
    expect(await sumOf()).toEqual({ in: [count, 0, 0, 0] });
  });

  it('adds the amounts of an engine that comes back after another one has taken over', async () => {
    const first = await open('first');
    first.of(nodesOf('p')).add('in', 'ingress', 1, 1);
    await turn();
    const second = await open('second');
    second.of(nodesOf('p')).add('in', 'ingress', 1, 10);
    await second.flush();
    await (await open('first')).flush();
    await (await open('first')).flush();
    expect(await sumOf()).toEqual({ in: [11, 0, 0, 0] });
  });

  it('knows what organizations have used by day, flushed or not', async () => {
    const meter = await open();
    const node = meter.of(nodesOf('p'));
    const used = (from: number, to: number) => [
      meter.used('org', 'ingress', dayOf(from), dayOf(to)),
      meter.used('org', 'egress', dayOf(from), dayOf(to)),
    ];
    node.add('in', 'ingress', 1, 100);
    node.add('in', 'egress', 1, 100);
    node.add('out', 'ingress', 1, 100);
    node.add('out', 'egress', 1, 40);
    await meter.flush();
    expect(used(now, now)).toEqual([0, 0]);
    await meter.watch(['org', 'unknown'], dayOf(START));
    expect(used(now, now)).toEqual([100, 40]);
    node.add('in', 'ingress', 1, 1);
    expect(used(now, now)).toEqual([101, 40]);
    await meter.flush();
    expect(used(now, now)).toEqual([101, 40]);
    now += 2 * MINUTE;
    node.add('in', 'ingress', 1, 7);
    expect([used(now, now), used(START, now)]).toEqual([
      [7, 0],
      [108, 40],
    ]);
    // A clock that is set back, then forward.
    now = START;
    node.add('in', 'ingress', 1, 1);
    now += 40 * DAY;
    await meter.flush();
    expect([used(now, now), used(START, START)]).toEqual([
      [0, 0],
      [102, 40],
    ]);
    expect(meter.used('unknown', 'ingress', 0, 50_000)).toBe(0);
  });

  it('tells when an allowance is used up, once', async () => {
    const meter = await open();
    const told: string[] = [];
    meter.onUsedUp = (id) => told.push(id);
    const node = meter.of(nodesOf('p'));
    node.add('in', 'ingress', 1, 1_000);
    meter.allow(new Map([['org', { ingress: 100, egress: Infinity }]]));
    node.add('in', 'ingress', 1, 99);
    node.add('out', 'egress', 1, 1_000);
    await turn();
    expect(told).toEqual([]);
    node.add('in', 'ingress', 1, 1);
    node.add('in', 'ingress', 1, 1);
    await turn();
    expect(told).toEqual(['org']);
  });

  it('keeps minutes for a day, then hours, and the sums stay the same', async () => {
    const meter = await open();
    const node = meter.of(nodesOf('p'));
    const add = async (minutes: number, bytes: number) => {
      now = START + minutes * MINUTE;
      node.add('in', 'ingress', 1, bytes);
      await meter.flush();
    };
    for (const minutes of [0, 1, 2, 61, 62, 200, 1_439]) await add(minutes, 1 + minutes);
    const usage = createUsage(database.queries);
    const all = { organizationIds: ['org'], from: 0, to: 2 ** 31 - 1 };
    const byHour = async () =>
      (await usage.sum(all, [], 60)).map(({ start, ingressBytes }) => [start - minuteOf(START), ingressBytes]);
    const hours = [
      [-58, 3],
      [2, 65],
      [62, 63],
      [182, 201],
      [1_382, 1_440],
    ];
    const rows = () => database.script((run) => run('select minute % 60 as minute from usage_counts order by 1'));
    const tidy = createUsageTidying(writer, 30);
    await tidy(START + DAY);
    expect([(await rows()).length, await byHour()]).toEqual([7, hours]);
    await tidy(START + 3 * DAY);
    expect([await rows(), await byHour()]).toEqual([[0, 0, 0, 0, 0].map((minute) => ({ minute })), hours]);
    // Late amounts of an hour that was moved.
    await add(1, 100);
    await createUsageTidying(writer, 30)(START + 3 * DAY);
    expect([(await rows()).length, (await byHour())[0]]).toEqual([5, [-58, 103]]);
    expect(
      (await usage.sum(all, [], 'month')).map(({ start, ingressBytes }) => [start * MINUTE, ingressBytes]),
    ).toEqual([
      [Date.UTC(2030, 0), 103],
      [Date.UTC(2030, 1), 1_769],
    ]);
    await tidy(START + 40 * DAY + HOUR);
    expect([await sumOf(), await usage.days(['org'], 0)]).toEqual([{}, []]);
  });

  it('adds the same rows from two engines at once', async () => {
    const meters = [await open('one'), await open('two')];
    const pipelines = Array.from({ length: 40 }, (_, n) => `p${n}`);
    for (let round = 0; round < 5; round += 1) {
      for (const [index, meter] of meters.entries())
        for (const id of index === 0 ? pipelines : pipelines.toReversed())
          meter.of(nodesOf(id)).add('in', 'ingress', 1, 1);
      await Promise.all(meters.map((meter) => meter.flush()));
    }
    expect(await sumOf()).toEqual({ in: [400, 0, 0, 0] });
  });
});
