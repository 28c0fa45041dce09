import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileHandlePool } from '../../files/idle-file.js';
import { batchId, createBatch } from '../../connector-api/batch.js';
import { FreeSpace } from './free-space.js';
import { EmbeddedStream, type StreamOptions } from './stream.js';

const batch = (n: number) => createBatch(batchId(String(n)), [JSON.stringify({ n, text: 'x'.repeat(100) })]);

async function someStream(
  segmentBytes: number,
): Promise<{ folder: string; files: FileHandlePool; options: StreamOptions }> {
  const root = await mkdtemp(join(tmpdir(), 'idle-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const files = new FileHandlePool();
  // With no memory for the cache, all batches are read from the files.
  const cacheBudget = { bytes: 0, maxBytes: 0 };
  const options = {
    maxBytes: 1e9,
    maxSpillBytes: 1e9,
    segmentBytes,
    files,
    cacheBudget,
    space: new FreeSpace(root, 0),
    now: Date.now,
    onDamage: () => expect.unreachable(),
  };
  return { folder: join(root, 'streams', 's'), files, options };
}

test('a stream without batches creates no files', async () => {
  const { folder, options } = await someStream(1e6);
  const stream = await EmbeddedStream.open(folder, 's', options, true);
  await stream.setConsumers([{ name: 'a' }, { name: 'b' }]);
  const stop = new AbortController();
  const reading = stream.consume('a', stop.signal)[Symbol.asyncIterator]().next();
  expect(stream.stats()).toMatchObject({ batches: 0, full: false });
  await expect(readdir(join(folder, '..'))).rejects.toThrow('ENOENT');
  await stream.publish(batch(1), {});
  expect(await reading).toMatchObject({ value: { sequence: 1 } });
  await stream.close();
});

test('an idle stream has no open files and continues at its positions', async () => {
  // Small segments, so that some are deleted while the stream is idle.
  const { folder, files, options } = await someStream(1_000);
  let stream = await EmbeddedStream.open(folder, 's', options, true);
  await stream.setConsumers([{ name: 'a' }, { name: 'slow' }]);
  const stop = new AbortController();
  const readers = ['a', 'slow'].map((name) => stream.consume(name, stop.signal)[Symbol.asyncIterator]());
  const take = async (reader: (typeof readers)[number] | undefined, count: number): Promise<number[]> => {
    const taken: number[] = [];
    while (taken.length < count) {
      const next = await reader?.next();
      if (!next || next.done) break;
      taken.push(next.value.sequence);
      await next.value.ack();
    }
    return taken;
  };
  const becomeIdle = async (): Promise<void> => {
    await files.closeIdle();
    await files.closeIdle();
    expect(files.size).toBe(0);
  };
  for (let n = 1; n <= 20; n += 1) await stream.publish(batch(n), {});
  expect(await take(readers[0], 20)).toHaveLength(20);
  const waiting = readers[0]?.next();
  await becomeIdle();
  // Duplicates are detected after an idle period, too.
  expect(await stream.publish(batch(20), {})).toMatchObject({ repeated: true, sequence: 20 });
  expect(await take(readers[1], 15)).toHaveLength(15);
  await becomeIdle();
  expect(await stream.publish(batch(21), {})).toMatchObject({ repeated: false, sequence: 21 });
  expect(await waiting).toMatchObject({ value: { sequence: 21 } });
  expect(await take(readers[1], 6)).toEqual([16, 17, 18, 19, 20, 21]);
  await becomeIdle();
  await stream.close();

  stream = await EmbeddedStream.open(folder, 's', options, false);
  await stream.setConsumers([{ name: 'a' }, { name: 'slow' }]);
  // Unacknowledged batches are redelivered.
  expect(stream.stats().consumers).toMatchObject({ a: { batches: 1 }, slow: { batches: 0 } });
  expect(await stream.publish(batch(21), {})).toMatchObject({ repeated: true });
  await stream.close();
  stop.abort();
});
