import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Batch } from '../../connector-api/batch.js';
import { someBatch } from '../../testing/bus-contract.js';
import type { Bus, Lost } from '../bus.js';
import { createEmbeddedBus } from './embedded-bus.js';

const CONSUMERS = ['a', 'b'];
let clock = 1_000;

interface Filled {
  folder: string;
  bus: Bus;
  sent: Batch[];
}

function open(folder: string): Bus {
  const bus = createEmbeddedBus({ folder, segmentBytes: 4_000, now: () => clock });
  onTestFinished(() => bus.close());
  return bus;
}

/** Creates a stream of 40 batches in several segments. */
async function filled(): Promise<Filled> {
  const folder = await mkdtemp(join(tmpdir(), 'lost-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const bus = open(folder);
  await bus.declare('s', CONSUMERS);
  const sent = Array.from({ length: 40 }, (_, n) => someBatch(1 + (n % 3), 300));
  for (const batch of sent) await bus.publish('s', batch);
  return { folder, bus, sent };
}

async function segmentsOf(folder: string): Promise<string[]> {
  const names = (await readdir(join(folder, 's'))).filter((name) => name.endsWith('.seg'));
  return names.sort().map((name) => join(folder, 's', name));
}

/** Reads until nothing is waiting; returns the batches received. */
async function drain(bus: Bus, consumer: string): Promise<string[]> {
  const ids: string[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    for await (const delivery of bus.consume('s', consumer, stop.signal)) {
      ids.push(delivery.batch.id);
      await delivery.ack();
    }
  })();
  await expect.poll(async () => (await bus.stats('s')).consumers[consumer]).toMatchObject({ batches: 0, records: 0 });
  stop.abort();
  await reading;
  return ids;
}

const lostIn = async (bus: Bus): Promise<Lost | undefined> => (await bus.stats('s')).lost;
const recordsOf = (batches: readonly Batch[]): number => batches.reduce((sum, { lines }) => sum + lines.length, 0);

/** Damages the files of segments, and says whether the number of lost records can be known. */
const damages: readonly [string, (paths: readonly string[]) => Promise<unknown>][] = [
  ['the first segment is missing', ([first = '']) => rm(first)],
  ['a segment in the middle is missing', (paths) => rm(paths[2] ?? '')],
  ['several segments in a row are missing', (paths) => Promise.all(paths.slice(1, 4).map((path) => rm(path)))],
  ['the last segment is missing', (paths) => rm(paths.at(-1) ?? '')],
  ['all segments are missing', (paths) => Promise.all(paths.map((path) => rm(path)))],
  ['a segment is cut off', (paths) => truncate(paths[2] ?? '', 900)],
  ['a segment is empty', (paths) => truncate(paths[2] ?? '', 0)],
  ['the last segment is cut off', (paths) => truncate(paths.at(-1) ?? '', 100)],
  ['a segment is overwritten', async (paths) => writeFile(paths[2] ?? '', Buffer.alloc(4_000, 0xff))],
  [
    'a byte of a record has changed',
    async (paths) => {
      const bytes = await readFile(paths[3] ?? '');
      bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
      await writeFile(paths[3] ?? '', bytes);
    },
  ],
];

describe.each(damages)('if %s', (_name, damage) => {
  test('the exact number of lost records is known, and the rest is delivered', async () => {
    const { folder, bus, sent } = await filled();
    await bus.close();
    await damage(await segmentsOf(folder));
    clock = 5_000;
    const next = open(folder);
    await next.declare('s', CONSUMERS);
    const got = await drain(next, 'a');
    const missing = sent.filter(({ id }) => !got.includes(id));
    expect(missing.length).toBeGreaterThan(0);
    const lost = { records: recordsOf(missing), exact: true, since: 5_000, latest: 5_000 };
    expect(await lostIn(next)).toEqual(lost);
    // The other consumer has lost the same records; they count once.
    expect(await drain(next, 'b')).toEqual(got);
    expect(await lostIn(next)).toEqual(lost);
    const more = someBatch();
    expect(await next.publish('s', more)).toMatchObject({ stored: true, repeated: false });
    expect(await drain(next, 'a')).toEqual([more.id]);
    await next.close();
    const again = open(folder);
    await again.declare('s', CONSUMERS);
    expect(await drain(again, 'a')).toEqual([]);
    expect(await drain(again, 'b')).toEqual([more.id]);
    expect(await lostIn(again)).toEqual(lost);
  });

  test('in a running process, the losses are counted and new batches are delivered', async () => {
    const { folder, bus, sent } = await filled();
    // The files are open only after they have been read.
    await damage(await segmentsOf(folder));
    const got = await drain(bus, 'a');
    const missing = sent.filter(({ id }) => !got.includes(id));
    expect((await lostIn(bus))?.records ?? 0).toBe(recordsOf(missing));
    const more = [someBatch(), someBatch()];
    for (const batch of more) expect(await bus.publish('s', batch)).toMatchObject({ stored: true });
    // What was written to a file without a name is still readable in this process.
    expect(await drain(bus, 'a')).toEqual(more.map(({ id }) => id));
  });
});

test('records that every consumer has acknowledged are not lost with their files', async () => {
  const { folder, bus } = await filled();
  for (const consumer of CONSUMERS) await drain(bus, consumer);
  await bus.close();
  for (const path of await segmentsOf(folder)) await rm(path);
  const next = open(folder);
  await next.declare('s', CONSUMERS);
  const more = someBatch();
  await next.publish('s', more);
  for (const consumer of CONSUMERS) expect(await drain(next, consumer)).toEqual([more.id]);
  expect(await lostIn(next)).toBeUndefined();
});

test('a later loss is added, with its time', async () => {
  const { folder, bus, sent } = await filled();
  await bus.close();
  clock = 1_000;
  const [first = '', , third = ''] = await segmentsOf(folder);
  await rm(first);
  const second = open(folder);
  await second.declare('s', CONSUMERS);
  const got: string[] = [];
  for await (const delivery of second.consume('s', 'a', new AbortController().signal)) {
    got.push(delivery.batch.id);
    await delivery.ack();
    break;
  }
  const before = await lostIn(second);
  expect(before).toMatchObject({ since: 1_000, latest: 1_000 });
  await second.close();
  await rm(third);
  clock = 9_000;
  const next = open(folder);
  await next.declare('s', CONSUMERS);
  got.push(...(await drain(next, 'a')));
  const records = recordsOf(sent.filter(({ id }) => !got.includes(id)));
  expect(await lostIn(next)).toEqual({ records, exact: true, since: 1_000, latest: 9_000 });
  expect(records).toBeGreaterThan(before?.records ?? 0);
});

test('a folder of an earlier release is read without a loss, and repeats are still known', async () => {
  const { folder, bus, sent } = await filled();
  const first = await (async () => {
    for await (const delivery of bus.consume('s', 'a', new AbortController().signal)) {
      await delivery.ack();
      return delivery.batch.id;
    }
    return '';
  })();
  await bus.close();
  // Earlier releases have no such file, and no position of a consumer that has acknowledged
  // nothing.
  await rm(join(folder, 's', 'stream.state'));
  await rm(join(folder, 's', 'positions', 'b.pos'));
  const next = open(folder);
  await next.declare('s', CONSUMERS);
  const ids = sent.map(({ id }) => id);
  expect([first, ...(await drain(next, 'a'))]).toEqual(ids);
  expect(await drain(next, 'b')).toEqual(ids);
  expect(await lostIn(next)).toBeUndefined();
  const [batch] = sent.slice(-1);
  if (batch) expect(await next.publish('s', batch)).toMatchObject({ repeated: true });
});
