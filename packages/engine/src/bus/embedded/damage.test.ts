import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createBatch } from '../../connector-api/batch.js';
import { someBatch } from '../../testing/bus-contract.js';
import { seededRandom } from '../../testing/random.js';
import type { Bus } from '../bus.js';
import { createEmbeddedBus } from './embedded-bus.js';
import type { Damage } from './segments.js';

async function someFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bus-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function open(folder: string): { bus: Bus; damage: Damage[] } {
  const damage: Damage[] = [];
  return { bus: createEmbeddedBus({ folder, segmentBytes: 4_000, onDamage: (found) => damage.push(found) }), damage };
}

/**
 * Creates a folder with `count` unread batches over several segments; returns it and the batch ids.
 */
async function filled(count: number): Promise<{ folder: string; ids: string[] }> {
  const folder = await someFolder();
  const { bus } = open(folder);
  await bus.declare('s', ['a']);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const batch = someBatch(1 + (n % 3), 300);
    ids.push(batch.id);
    await bus.publish('s', batch);
  }
  await bus.close();
  return { folder, ids };
}

async function segmentsOf(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 's'));
  return names
    .filter((name) => name.endsWith('.seg'))
    .sort()
    .map((name) => join(folder, 's', name));
}

/** Reads and acknowledges batches up to and including the one with the id `last`. */
async function drain(bus: Bus, last: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const delivery of bus.consume('s', 'a', new AbortController().signal)) {
    ids.push(delivery.batch.id);
    await delivery.ack();
    if (delivery.batch.id === last) break;
  }
  return ids;
}

test('delivers every complete batch and accepts new ones after a torn write at any offset', async () => {
  const { folder: original, ids } = await filled(12);
  const last = (await segmentsOf(original)).at(-1) ?? '';
  const { size } = await stat(last);
  for (let left = size - 1; left >= 0; left -= 37) {
    const folder = await someFolder();
    await cp(original, folder, { recursive: true });
    await truncate((await segmentsOf(folder)).at(-1) ?? '', left);
    const { bus, damage } = open(folder);
    await bus.declare('s', ['a']);
    expect(damage.every(({ kind }) => kind === 'cut')).toBe(true);
    const more = someBatch();
    expect(await bus.publish('s', more)).toMatchObject({ stored: true, repeated: false });
    const got = await drain(bus, more.id);
    expect(got.slice(0, -1)).toEqual(ids.slice(0, got.length - 1));
    expect(got.length).toBeGreaterThan(8);
    // The truncated batch was never acknowledged, so its sender retries it and it is stored as new.
    expect(damage.length).toBeLessThanOrEqual(1);
    await bus.close();
  }
});

test('truncates zeros left by a power failure', async () => {
  const { folder, ids } = await filled(5);
  const last = (await segmentsOf(folder)).at(-1) ?? '';
  const { size } = await stat(last);
  await truncate(last, size + 3_000);
  const { bus, damage } = open(folder);
  await bus.declare('s', ['a']);
  expect(damage).toEqual([expect.objectContaining({ kind: 'cut', offset: size, bytes: 3_000 })]);
  expect(await drain(bus, ids.at(-1) ?? '')).toEqual(ids);
  await bus.close();
});

test('reports a flipped byte and loses only its batch', async () => {
  const random = seededRandom(7);
  const { folder: original, ids } = await filled(40);
  for (let round = 0; round < 60; round += 1) {
    const folder = await someFolder();
    await cp(original, folder, { recursive: true });
    const paths = await segmentsOf(folder);
    const path = paths[Math.floor(random() * paths.length)] ?? '';
    const bytes = await readFile(path);
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    await writeFile(path, bytes);

    const { bus, damage } = open(folder);
    await bus.declare('s', ['a']);
    const more = someBatch();
    await bus.publish('s', more);
    const got = await drain(bus, more.id);
    expect(damage.length).toBeGreaterThan(0);
    expect((await bus.stats('s')).damagedBytes).toBeGreaterThan(0);
    const lost = ids.filter((id) => !got.includes(id));
    expect(lost.length).toBeLessThanOrEqual(1);
    expect(got).toEqual([...ids.filter((id) => !lost.includes(id)), more.id]);
    await bus.close();
  }
});

test.each([0, 30])('a segment left with %d bytes does not affect duplicate detection', async (left) => {
  const { folder, ids } = await filled(12);
  const [whole = ''] = await segmentsOf(folder);
  const begun = join(folder, 's', `${'13'.padStart(16, '0')}.seg`);
  await writeFile(begun, (await readFile(whole)).subarray(0, left));
  const { bus } = open(folder);
  await bus.declare('s', ['a']);
  const more = someBatch();
  await bus.publish('s', more);
  await drain(bus, more.id);
  await bus.close();
  const again = open(folder);
  await again.bus.declare('s', ['a']);
  for (const id of [...ids, more.id])
    expect(await again.bus.publish('s', createBatch(id, ['{}']))).toMatchObject({ repeated: true });
  await again.bus.close();
});

test('falls back to the previous position after a torn write', async () => {
  const { folder, ids } = await filled(3);
  const { bus } = open(folder);
  await bus.declare('s', ['a']);
  await drain(bus, ids[1] ?? '');
  await bus.close();
  const path = join(folder, 's', 'positions', 'a.pos');
  const bytes = await readFile(path);
  // The first write created the file; the second acknowledgment went to the second slot.
  bytes.fill(0xff, 40, 60);
  await writeFile(path, bytes);
  const again = open(folder);
  await again.bus.declare('s', ['a']);
  expect(await drain(again.bus, ids[2] ?? '')).toEqual(ids.slice(1));
  await again.bus.close();
});

test('deletes segments that every consumer has acknowledged', async () => {
  const { folder, ids } = await filled(60);
  expect((await segmentsOf(folder)).length).toBeGreaterThan(4);
  const { bus } = open(folder);
  await bus.declare('s', ['a', 'b']);
  await drain(bus, ids.at(-1) ?? '');
  expect((await segmentsOf(folder)).length).toBeGreaterThan(4);
  await bus.declare('s', ['a']);
  expect(await segmentsOf(folder)).toHaveLength(1);
  await bus.close();
});
