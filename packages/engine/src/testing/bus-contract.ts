import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Bus, ConsumerOptions, Delivery } from '../bus/bus.js';
import { createBatch, type Batch } from '../connector-api/batch.js';

/** A bus under test. `reopen` closes it cleanly and opens it again on the same storage. */
export interface OpenBus {
  bus: Bus;
  reopen: () => Promise<Bus>;
  /** Closes the bus and deletes its data. */
  close: () => Promise<void>;
}

export interface BusLimits {
  /** Maximum backlog of a consumer in bytes, and with the policy `spill`. */
  maxBytes?: number;
  maxSpillBytes?: number;
}

let made = 0;

/** Creates a unique batch of `records` records and about `bytes` bytes. */
export function someBatch(records = 1, bytes = 0): Batch {
  made += 1;
  const text = 'x'.repeat(Math.ceil(bytes / records));
  return createBatch(
    `batch-${made}`,
    Array.from({ length: records }, (_, n) => JSON.stringify({ made, n, ...(text && { text }) })),
  );
}

/** Returns the next `count` deliveries of a consumer; acknowledges them unless `ack` is false. */
export async function take(bus: Bus, consumer: string, count: number, ack = true): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  const stop = new AbortController();
  for await (const delivery of bus.consume('s', consumer, stop.signal)) {
    taken.push(delivery);
    if (ack) await delivery.ack();
    if (taken.length === count) break;
  }
  stop.abort();
  return taken;
}

const ids = (items: readonly (Batch | Delivery)[]): string[] =>
  items.map((item) => ('batch' in item ? item.batch.id : item.id));

const recordsOf = (batches: readonly Batch[]): number => batches.reduce((sum, batch) => sum + batch.lines.length, 0);

async function publish(bus: Bus, ...batches: readonly Batch[]): Promise<void> {
  for (const batch of batches) expect(await bus.publish('s', batch)).toMatchObject({ stored: true });
}

/** Registers the tests that every implementation of `Bus` must pass. */
export function runBusContract(name: string, open: (limits: BusLimits) => Promise<OpenBus>): void {
  const start = async (consumers: readonly (string | ConsumerOptions)[], limits: BusLimits = {}): Promise<OpenBus> => {
    const opened = await open(limits);
    onTestFinished(() => opened.close());
    await opened.bus.declare('s', consumers);
    return opened;
  };

  describe(`bus contract: ${name}`, () => {
    test('delivers batches unchanged and in order', async () => {
      const { bus } = await start(['a']);
      const sent = [someBatch(3), someBatch(500, 400_000), createBatch('text', ['{"t":"ü\\n\\"€\\u0000"}'])];
      await publish(bus, ...sent);
      const got = await take(bus, 'a', 3);
      expect(got.map(({ batch }) => batch.lines)).toEqual(sent.map(({ lines }) => lines));
      expect(got.map(({ batch }) => batch.bytes)).toEqual(sent.map(({ bytes }) => bytes));
      expect(ids(got)).toEqual(ids(sent));
      expect(got.map(({ sequence }) => sequence)).toEqual([1, 2, 3].map((n) => n + (got[0]?.sequence ?? 0) - 1));
      expect(Math.abs((got[0]?.publishedAt ?? 0) - Date.now())).toBeLessThan(60_000);
    });

    test('stores concurrent batches once each', async () => {
      const { bus } = await start(['a']);
      const sent = Array.from({ length: 200 }, () => someBatch());
      const results = await Promise.all(sent.map((batch) => bus.publish('s', batch)));
      expect(new Set(results.map((result) => (result.stored ? result.sequence : 0))).size).toBe(200);
      expect(ids(await take(bus, 'a', 200)).sort()).toEqual(ids(sent).sort());
    });

    test('a waiting reader receives new batches', async () => {
      const { bus } = await start(['a']);
      const waiting = take(bus, 'a', 2);
      const [first, second] = [someBatch(), someBatch()];
      await publish(bus, first);
      await publish(bus, second);
      expect(ids(await waiting)).toEqual(ids([first, second]));
    });

    test('detects a duplicate by its id: at once, later, after a restart, and during the first write', async () => {
      const opened = await start(['a']);
      const [batch, last] = [someBatch(2), someBatch()];
      const results = await Promise.all([opened.bus.publish('s', batch), opened.bus.publish('s', batch)]);
      expect(results.map((result) => result.stored && result.repeated)).toEqual([false, true]);
      expect(await opened.bus.publish('s', batch)).toMatchObject({ stored: true, repeated: true });
      const bus = await opened.reopen();
      await bus.declare('s', ['a']);
      expect(await bus.publish('s', batch)).toMatchObject({ stored: true, repeated: true });
      await publish(bus, last);
      expect(ids(await take(bus, 'a', 2))).toEqual(ids([batch, last]));
    });

    test('positions survive a restart; unacknowledged batches are redelivered', async () => {
      const opened = await start(['a']);
      const sent = [someBatch(), someBatch(), someBatch()];
      await publish(opened.bus, ...sent);
      await take(opened.bus, 'a', 1);
      await take(opened.bus, 'a', 2, false);
      const bus = await opened.reopen();
      await bus.declare('s', ['a']);
      expect(ids(await take(bus, 'a', 2))).toEqual(ids(sent.slice(1)));
      expect(await bus.stats('s')).toMatchObject({ batches: 0, records: 0, bytes: 0 });
    });

    test('an acknowledgment covers all earlier batches', async () => {
      const { bus } = await start(['a']);
      const sent = [someBatch(), someBatch(), someBatch()];
      await publish(bus, ...sent);
      const got = await take(bus, 'a', 2, false);
      await got[1]?.ack();
      await got[0]?.ack();
      expect(ids(await take(bus, 'a', 1))).toEqual(ids(sent.slice(2)));
    });

    test('tells when the oldest unacknowledged batch was published', async () => {
      const { bus, reopen } = await start(['a', 'b']);
      expect(await bus.oldestAt('s', 'a')).toBeUndefined();
      for (let n = 0; n < 3; n += 1) {
        await publish(bus, someBatch());
        await sleep(5);
      }
      const all = await take(bus, 'b', 3, false);
      const times = all.map(({ publishedAt }) => publishedAt);
      expect(new Set(times).size).toBe(3);
      expect(await bus.oldestAt('s', 'a')).toBe(times[0]);
      await take(bus, 'a', 1);
      expect(await bus.oldestAt('s', 'a')).toBe(times[1]);
      expect(await bus.oldestAt('s', 'b')).toBe(times[0]);
      const again = await reopen();
      await again.declare('s', ['a', 'b']);
      expect(await again.oldestAt('s', 'a')).toBe(times[1]);
      await take(again, 'a', 2);
      expect(await again.oldestAt('s', 'a')).toBeUndefined();
      await expect(again.oldestAt('s', 'nobody')).rejects.toMatchObject({ code: 'unknown_consumer' });
    });

    test('a slow consumer does not delay the other', async () => {
      const { bus } = await start(['slow', 'fast']);
      const sent = Array.from({ length: 20 }, () => someBatch(2));
      await publish(bus, ...sent);
      expect(ids(await take(bus, 'fast', 20))).toEqual(ids(sent));
      expect((await bus.stats('s')).consumers).toMatchObject({
        fast: { batches: 0, records: 0, bytes: 0 },
        slow: { batches: 20, records: 40 },
      });
      expect(ids(await take(bus, 'slow', 20))).toEqual(ids(sent));
    });

    test('a full buffer rejects a batch or lets it wait; stored batches are kept', async () => {
      const { bus } = await start(['a'], { maxBytes: 100_000 });
      const sent = Array.from({ length: 30 }, () => someBatch(1, 10_000));
      const stored: Batch[] = [];
      for (const batch of sent) if ((await bus.publish('s', batch)).stored) stored.push(batch);
      expect(stored.length).toBeGreaterThan(5);
      expect(stored.length).toBeLessThan(11);
      expect(await bus.stats('s')).toMatchObject({ full: true, maxBytes: 100_000, batches: stored.length });

      const late = someBatch(1, 10_000);
      expect(await bus.publish('s', late, { waitMs: 20 })).toEqual({ stored: false, reason: 'full' });
      const waiting = bus.publish('s', late, { waitMs: 10_000 });
      await take(bus, 'a', 2);
      expect(await waiting).toMatchObject({ stored: true });
      expect(ids(await take(bus, 'a', stored.length - 1))).toEqual(ids([...stored.slice(2), late]));
      expect(await bus.stats('s')).toMatchObject({ full: false, batches: 0 });
    });

    describe('with a consumer that drops new batches', () => {
      const consumers = ['healthy', { name: 'dead', policy: 'drop_newest', maxBytes: 100_000 }] as const;

      test('the other consumer receives every batch, and the dropped ones are counted', async () => {
        const opened = await start(consumers, { maxBytes: 200_000 });
        let { bus } = opened;
        const sent = Array.from({ length: 100 }, (_, n) => someBatch(1 + (n % 3), 10_000));
        for (const batch of sent) {
          await publish(bus, batch);
          await take(bus, 'healthy', 1);
        }
        const { dead, healthy } = (await bus.stats('s')).consumers;
        expect(healthy).toMatchObject({ batches: 0, dropping: false, dropped: { batches: 0 } });
        expect(dead).toMatchObject({ maxBytes: 100_000, dropping: true });
        const kept = dead?.batches ?? 0;
        expect(kept).toBeGreaterThan(5);
        expect(dead?.bytes).toBeLessThanOrEqual(100_000);
        const droppedRecords = recordsOf(sent.slice(kept));
        expect(dead?.dropped).toMatchObject({ batches: 100 - kept, records: droppedRecords });
        expect(dead?.records).toBe(recordsOf(sent.slice(0, kept)));

        bus = await opened.reopen();
        await bus.declare('s', consumers);
        expect((await bus.stats('s')).consumers['dead']).toEqual(dead);
        // Once it has caught up, it receives new batches again.
        expect(ids(await take(bus, 'dead', kept))).toEqual(ids(sent.slice(0, kept)));
        expect((await bus.stats('s')).consumers['dead']).toMatchObject({ batches: 0, records: 0, dropping: false });
        const [late, later] = [someBatch(), someBatch()];
        await publish(bus, late, later);
        expect(ids(await take(bus, 'dead', 2))).toEqual(ids([late, later]));
        expect(ids(await take(bus, 'healthy', 2))).toEqual(ids([late, later]));
        const { consumers: after, lost } = await bus.stats('s');
        expect(after['dead']?.dropped).toEqual(dead?.dropped);
        expect(lost).toBeUndefined();
      });

      test('it receives exactly what was not dropped while it is slow', async () => {
        const opened = await start(consumers);
        let { bus } = opened;
        const [sent, got]: [Batch[], Delivery[]] = [[], []];
        for (let n = 0; n < 200; n += 1) {
          const batch = someBatch(1, 10_000);
          sent.push(batch);
          await publish(bus, batch);
          if (n % 3 === 0) got.push(...(await take(bus, 'dead', 1)));
          if (n % 50 === 49) {
            bus = await opened.reopen();
            await bus.declare('s', consumers);
          }
        }
        for (let left = (await bus.stats('s')).consumers['dead']?.batches ?? 0; left > 0; left -= 1)
          got.push(...(await take(bus, 'dead', 1)));
        const { dead, healthy } = (await bus.stats('s')).consumers;
        expect(dead).toMatchObject({ batches: 0, records: 0, dropped: { batches: 200 - got.length } });
        expect(got.length).toBeGreaterThan(60);
        expect(got.length).toBeLessThan(100);
        expect(ids(got)).toEqual(ids(sent).filter((id) => ids(got).includes(id)));
        expect(healthy).toMatchObject({ batches: 200 });
        expect(ids(await take(bus, 'healthy', 200))).toEqual(ids(sent));
        expect((await bus.stats('s')).lost).toBeUndefined();
      });

      test('a batch that is dropped for all is accepted and not stored', async () => {
        const { bus } = await start([consumers[1]]);
        for (let n = 0; n < 50; n += 1) await publish(bus, someBatch(2, 10_000));
        const { consumers: each, batches } = await bus.stats('s');
        expect(batches + (each['dead']?.dropped.batches ?? 0)).toBe(50);
        expect(await take(bus, 'dead', batches)).toHaveLength(batches);
        const late = someBatch();
        await publish(bus, late);
        expect(ids(await take(bus, 'dead', 1))).toEqual(ids([late]));
      });

      test('it still bounds the stream of the others by their own budgets', async () => {
        const { bus } = await start(['blocks', consumers[1]], { maxBytes: 200_000 });
        const stored: Batch[] = [];
        for (let n = 0; n < 30; n += 1) {
          const batch = someBatch(1, 10_000);
          if ((await bus.publish('s', batch)).stored) stored.push(batch);
        }
        expect(stored.length).toBeGreaterThan(15);
        expect(stored.length).toBeLessThan(21);
        expect(ids(await take(bus, 'blocks', stored.length))).toEqual(ids(stored));
        expect(await bus.publish('s', someBatch(1, 10_000))).toMatchObject({ stored: true });
      });
    });

    test('a consumer that spills has a larger budget, then it blocks', async () => {
      const limits = { maxBytes: 50_000, maxSpillBytes: 150_000 };
      const { bus } = await start(['fast', { name: 'slow', policy: 'spill' }], limits);
      let stored = 0;
      for (let n = 0; n < 30; n += 1) {
        if (!(await bus.publish('s', someBatch(1, 10_000))).stored) continue;
        stored += 1;
        await take(bus, 'fast', 1);
      }
      expect(stored).toBeGreaterThan(10);
      expect(stored).toBeLessThan(16);
      expect(await bus.stats('s')).toMatchObject({ full: true, consumers: { slow: { maxBytes: 150_000 } } });
    });

    test('a budget below the limit of the bus applies to its consumer only', async () => {
      const { bus } = await start(['a', { name: 'b', maxBytes: 50_000 }], { maxBytes: 100_000 });
      const fill = async (): Promise<number> => {
        let stored = 0;
        while ((await bus.publish('s', someBatch(1, 10_000))).stored) stored += 1;
        return stored;
      };
      expect(await fill()).toBe(4);
      await take(bus, 'b', 4);
      expect(await fill()).toBe(4);
      await bus.declare('s', ['a', 'b']);
      await take(bus, 'b', 4);
      expect(await fill()).toBe(1);
    });

    test('an abort ends waiting for space', async () => {
      const { bus } = await start(['a'], { maxBytes: 100_000 });
      for (let n = 0; n < 12; n += 1) await bus.publish('s', someBatch(1, 10_000));
      const stop = new AbortController();
      const waiting = bus.publish('s', someBatch(1, 10_000), { waitMs: 60_000, signal: stop.signal });
      stop.abort();
      expect(await waiting).toEqual({ stored: false, reason: 'full' });
    });

    test('a removed consumer leaves nothing; a new one starts at the oldest stored batch', async () => {
      const { bus } = await start(['a', 'b']);
      const sent = [someBatch(), someBatch()];
      await publish(bus, ...sent);
      await take(bus, 'a', 1);
      await bus.declare('s', ['a']);
      expect(await bus.stats('s')).toMatchObject({ batches: 1 });
      await expect(take(bus, 'b', 1)).rejects.toMatchObject({ code: 'unknown_consumer' });
      await bus.declare('s', ['a', 'c']);
      expect(ids(await take(bus, 'c', 1)).at(-1)).toBeOneOf(ids(sent));
      await publish(bus, someBatch());
      expect(await bus.stats('s')).toMatchObject({ consumers: { a: { batches: 2 } } });
    });

    test('reading ends on abort and when the bus closes', async () => {
      const { bus } = await start(['a', 'b']);
      const stop = new AbortController();
      const [first, second] = [
        (async () => {
          for await (const delivery of bus.consume('s', 'a', stop.signal)) await delivery.ack();
        })(),
        take(bus, 'b', 1),
      ];
      stop.abort();
      await first;
      await bus.close();
      expect(await second).toEqual([]);
      await expect(bus.publish('s', someBatch())).rejects.toMatchObject({ code: 'closed' });
    });

    test('an abort ends a read at any of its steps', async () => {
      const { bus } = await start(['a']);
      await publish(bus, someBatch());
      for (let steps = 0; steps < 60; steps += 1) {
        const stop = new AbortController();
        const reading = bus.consume('s', 'a', stop.signal)[Symbol.asyncIterator]();
        await reading.next();
        const ended = reading.next();
        for (let step = 0; step < steps; step += 1) await (step % 3 === 2 ? nextTurn() : Promise.resolve());
        stop.abort();
        expect(await ended).toEqual({ done: true, value: undefined });
      }
    });

    test('a removed stream is deleted and can be declared again', async () => {
      const { bus } = await start(['a']);
      await publish(bus, someBatch());
      await bus.remove('s');
      await expect(bus.publish('s', someBatch())).rejects.toMatchObject({ code: 'unknown_stream' });
      await bus.declare('s', ['a']);
      expect(await bus.stats('s')).toMatchObject({ batches: 0 });
      const batch = someBatch();
      await publish(bus, batch);
      expect(ids(await take(bus, 'a', 1))).toEqual(ids([batch]));
    });

    test('streams are separate; names that could be paths are rejected', async () => {
      const { bus } = await start(['a']);
      await bus.declare('other', ['a']);
      await bus.publish('other', someBatch());
      expect(await bus.stats('s')).toMatchObject({ batches: 0 });
      for (const bad of ['', '../x', 'a/b', '.hidden', 'x'.repeat(129)])
        await expect(bus.declare(bad, [])).rejects.toMatchObject({ code: 'bad_name' });
      await expect(bus.declare('s', ['../a'])).rejects.toMatchObject({ code: 'bad_name' });
    });
  });
}
