import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canMount, mountSmallDisk, type SmallDisk } from '../../../../../test/support/small-disk.js';
import type { Batch } from '../../connector-api/batch.js';
import { someBatch } from '../../testing/bus-contract.js';
import type { Published } from '../bus.js';
import { createEmbeddedBus, type EmbeddedBus } from './embedded-bus.js';

const SEGMENT = 40_000;

async function smallDisk(): Promise<SmallDisk> {
  const disk = await mountSmallDisk(2_000_000);
  onTestFinished(() => disk.close());
  return disk;
}

function open({ folder }: SmallDisk, minFreeBytes = 0): EmbeddedBus {
  const bus = createEmbeddedBus({ folder: join(folder, 'bus'), segmentBytes: SEGMENT, minFreeBytes });
  onTestFinished(() => bus.close());
  return bus;
}

const publish = (bus: EmbeddedBus, batch: Batch): Promise<Published | 'failed'> =>
  bus.publish('s', batch).catch((error: { code: string }) => {
    expect(error.code).toBe('storage');
    return 'failed';
  });

/** Publishes batches until one is not stored; returns those that were. */
async function publishAll(bus: EmbeddedBus, max = 500): Promise<string[]> {
  const stored: string[] = [];
  for (let n = 0; n < max; n += 1) {
    const batch = someBatch(1, 10_000);
    const result = await publish(bus, batch);
    if (result === 'failed' || !result.stored) break;
    stored.push(batch.id);
  }
  return stored;
}

/** Delivers everything that is waiting; returns the batches. */
async function drain(bus: EmbeddedBus): Promise<string[]> {
  const ids: string[] = [];
  if ((await bus.stats('s')).batches === 0) return ids;
  for await (const delivery of bus.consume('s', 'a', new AbortController().signal)) {
    ids.push(delivery.batch.id);
    await delivery.ack();
    if ((await bus.stats('s')).batches === 0) break;
  }
  return ids;
}

const segmentsIn = async ({ folder }: SmallDisk): Promise<number> =>
  (await readdir(join(folder, 'bus', 's'))).filter((name) => name.endsWith('.seg')).length;

describe.runIf(canMount)('on a full disk (tmpfs)', () => {
  test('new batches are rejected, what is stored is delivered, and the space is used again', async () => {
    const disk = await smallDisk();
    const bus = open(disk);
    await bus.declare('s', ['a']);
    const stored = await publishAll(bus, 60);
    await disk.fill();
    stored.push(...(await publishAll(bus)));
    expect(await publish(bus, someBatch(1, 10_000))).toEqual({ stored: false, reason: 'no_space' });
    expect(await bus.disk()).toMatchObject({ status: 'low', minFreeBytes: 0 });
    expect(await bus.stats('s')).toMatchObject({ noSpace: true, batches: stored.length });
    expect(await drain(bus)).toEqual(stored);
    expect(await segmentsIn(disk)).toBe(1);
    // The deleted segments have made space; nobody else has to act.
    await expect.poll(async () => (await bus.disk()).status).toBe('ok');
    const more = await publishAll(bus, 10);
    expect(more).toHaveLength(10);
    expect(await drain(bus)).toEqual(more);
    expect((await bus.stats('s')).lost).toBeUndefined();
  });

  test('a restart delivers what is stored once, and positions are kept', async () => {
    const disk = await smallDisk();
    let bus = open(disk);
    await bus.declare('s', ['a']);
    const stored = await publishAll(bus, 60);
    await disk.fill();
    await bus.close();
    for (let from = 0; from < stored.length; from += 20) {
      bus = open(disk);
      await bus.declare('s', ['a']);
      const got: string[] = [];
      for await (const delivery of bus.consume('s', 'a', new AbortController().signal)) {
        got.push(delivery.batch.id);
        await delivery.ack();
        // What is freed is taken by others at once.
        await disk.fill();
        if (got.length === 20) break;
      }
      expect(got).toEqual(stored.slice(from, from + 20));
      await bus.close();
    }
    bus = open(disk);
    await bus.declare('s', ['a']);
    expect(await bus.stats('s')).toMatchObject({ batches: 0 });
    expect((await bus.stats('s')).lost).toBeUndefined();
  });

  test('a consumer that has acknowledged nothing yet saves its position', async () => {
    const disk = await smallDisk();
    let bus = open(disk);
    await bus.declare('s', ['a']);
    const stored = await publishAll(bus, 3);
    await disk.fill();
    expect(await drain(bus)).toEqual(stored);
    await bus.close();
    bus = open(disk);
    await bus.declare('s', ['a']);
    expect(await bus.stats('s')).toMatchObject({ batches: 0 });
  });

  test('a write that fails is reported; later batches are rejected until there is space', async () => {
    const disk = await smallDisk();
    const bus = open(disk);
    await bus.declare('s', ['a']);
    const stored = await publishAll(bus, 10);
    // The bus does not know yet that others have used the space.
    await disk.fill();
    const big = someBatch(400, 400_000);
    expect(await publish(bus, big)).toBe('failed');
    expect(await bus.disk()).toMatchObject({ status: 'low', code: 'ENOSPC' });
    expect(await publish(bus, big)).toEqual({ stored: false, reason: 'no_space' });
    await disk.free();
    expect(await bus.publish('s', big, { waitMs: 30_000 })).toMatchObject({ stored: true, repeated: false });
    expect(await drain(bus)).toEqual([...stored, big.id]);
  });

  test('a stream without files is declared, rejects batches, and accepts them later', async () => {
    const disk = await smallDisk();
    await disk.fill();
    const bus = open(disk);
    await bus.declare('s', ['a']);
    const batch = someBatch(3, 10_000);
    expect(await publish(bus, batch)).toEqual({ stored: false, reason: 'no_space' });
    await disk.free();
    const waiting = await bus.publish('s', batch, { waitMs: 30_000 });
    expect(waiting).toMatchObject({ stored: true, repeated: false });
    expect(await drain(bus)).toEqual([batch.id]);
  });

  test('a minimum of free space is left to others', async () => {
    const disk = await smallDisk();
    const bus = open(disk, 1_000_000);
    await bus.declare('s', ['a']);
    const stored = await publishAll(bus);
    expect(stored.length).toBeGreaterThan(80);
    expect(stored.length).toBeLessThan(101);
    expect(await bus.disk()).toMatchObject({ status: 'low', minFreeBytes: 1_000_000 });
    expect((await bus.disk()).freeBytes).toBeGreaterThan(900_000);
    expect(await drain(bus)).toEqual(stored);
    await expect.poll(async () => (await bus.disk()).status).toBe('ok');
    expect(await publishAll(bus, 10)).toHaveLength(10);
  });

  test('the space of streams in which everything is acknowledged is freed for others', async () => {
    const disk = await smallDisk();
    const bus = createEmbeddedBus({ folder: join(disk.folder, 'bus'), minFreeBytes: 500_000 });
    onTestFinished(() => bus.close());
    await bus.declare('s', ['a']);
    await bus.declare('idle', ['a']);
    const old = someBatch(1, 300_000);
    await bus.publish('idle', old);
    for await (const delivery of bus.consume('idle', 'a', new AbortController().signal)) {
      await delivery.ack();
      break;
    }
    const stored = await publishAll(bus);
    expect(await bus.stats('s')).toMatchObject({ noSpace: true });
    await expect.poll(async () => (await bus.disk()).freeBytes).toBeGreaterThan(700_000);
    stored.push(...(await publishAll(bus)));
    expect(await drain(bus)).toEqual(stored);
    await expect.poll(async () => (await bus.disk()).freeBytes).toBeGreaterThan(1_700_000);
    expect(await publishAll(bus, 50)).toHaveLength(50);
    // Repeats are still known.
    expect(await bus.publish('idle', old)).toMatchObject({ repeated: true });
  });

  test('a disk that refuses writes fails each batch; later batches are stored', async () => {
    const disk = await smallDisk();
    const bus = open(disk);
    await bus.declare('s', ['a']);
    const stored = await publishAll(bus, 5);
    // No file may be open for writing.
    await bus.close();
    disk.remount('ro');
    const again = open(disk);
    await again.declare('s', ['a']);
    const batch = someBatch();
    expect(await publish(again, batch)).toBe('failed');
    expect(await again.disk()).toMatchObject({ status: 'failing', code: 'EROFS' });
    disk.remount('rw');
    expect(await publish(again, batch)).toMatchObject({ stored: true, repeated: false });
    expect(await again.disk()).toMatchObject({ status: 'ok' });
    expect(await drain(again)).toEqual([...stored, batch.id]);
  });
});
