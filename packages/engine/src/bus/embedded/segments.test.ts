import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileHandlePool } from '../../files/idle-file.js';
import { someBatch } from '../../testing/bus-contract.js';
import { batchFrame } from './frame.js';
import { Segments, type Damage } from './segments.js';

test('a new segment that was removed before its first batch is created again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'segments-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const damages: Damage[] = [];
  const segments = await Segments.open(folder, 's', 4_000, new FileHandlePool(), (damage) => damages.push(damage));
  onTestFinished(() => segments.close());
  await segments.renew();
  await rm(segments.tail?.path ?? '');
  const batch = someBatch(1, 300);
  const { segment } = await segments.append([batchFrame(batch, { recordsBefore: 0, sequence: 1, publishedAt: 1 })]);
  // A deletion of the one that was removed must not delete the other.
  expect(segments.list).toEqual([segment]);
  expect(await readdir(folder)).toEqual(['0000000000000001.seg']);
  expect(damages).toMatchObject([{ kind: 'missing' }]);
});
