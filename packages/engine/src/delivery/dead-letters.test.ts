import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DeadLetters, DeadLettersFullError, type DeadLetter, type DeadLettersOptions } from './dead-letters.js';

async function someFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'letters-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
const open = (folder: string, options: Partial<DeadLettersOptions> = {}): DeadLetters =>
  new DeadLetters(folder, { maxBytes: 1e6, maxCount: 1e5, whenFull: 'block', now: () => 1_000, ...options });
const entries = (count: number, from = 0, nodeId = 'out'): DeadLetter[] =>
  Array.from({ length: count }, (_, n) => ({
    nodeId,
    reason: 'no',
    recordId: `r${from + n}`,
    line: `{"n":${from + n}}`,
  }));
const numbers = async (letters: DeadLetters, nodeId?: string): Promise<number[]> =>
  (await letters.list({ ...(nodeId !== undefined && { nodeId }), limit: Infinity })).map(({ line }): number =>
    Number(/\d+/.exec(line)?.[0]),
  );
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(join(folder, 'dead-letters', 'out'));
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(folder, 'dead-letters', 'out', name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('lists letters by node and page, also after a restart, with the exact text of the record', async () => {
  const folder = await someFolder();
  const letters = open(folder);
  await letters.add([...entries(7), ...entries(3, 100, 'in')]);
  const exact = {
    nodeId: 'out',
    reason: 'a "quoted",\nreason',
    recordId: 'x',
    line: '{"n":12345678901234567890,"record":1}',
  };
  await letters.add([exact]);
  for (const each of [letters, open(folder)]) {
    const pages: number[][] = [];
    let after: string | undefined;
    for (;;) {
      const page = await each.list({ limit: 4, ...(after !== undefined && { after }) });
      if (page.length === 0) break;
      pages.push(page.map(({ recordId }) => Number(recordId.slice(1) || NaN)));
      after = page.at(-1)?.id;
    }
    expect(pages).toEqual([
      [100, 101, 102, 0],
      [1, 2, 3, 4],
      [5, 6, Number.NaN],
    ]);
    const [last] = (await each.list({ nodeId: 'out', limit: 100 })).slice(-1);
    expect(last).toMatchObject({ ...exact, at: 1_000, replays: 0, isReplaying: false });
    expect(await each.get(last?.id ?? '')).toEqual(last);
    expect(await each.stats()).toMatchObject({ in: { count: 3 }, out: { count: 8 } });
  }
  for (const id of ['', 'out', 'out.', 'out.9', 'nowhere.1', '../out.1']) expect(await letters.get(id)).toBeUndefined();
});

test('deletes single letters, and all of a node, permanently', async () => {
  const folder = await someFolder();
  const letters = open(folder);
  await letters.add([...entries(10), ...entries(2, 50, 'other')]);
  const ids = (await letters.list({ nodeId: 'out', limit: 3 })).map(({ id }) => id);
  expect(await letters.delete([...ids, 'out.1', 'nonsense'])).toBe(3);
  expect(await letters.delete(ids)).toBe(0);
  expect(await numbers(open(folder), 'out')).toEqual([3, 4, 5, 6, 7, 8, 9]);
  expect(await letters.purge('out')).toBe(7);
  expect(await numbers(open(folder))).toEqual([50, 51]);
  // A new letter never has the id of a deleted one.
  const again = open(folder, { now: () => 2_000 });
  await again.add(entries(1));
  expect(ids).not.toContain((await again.list({ nodeId: 'out', limit: 1 }))[0]?.id);
  await again.remove();
  expect(await readdir(folder)).toEqual([]);
});

test('frees the space of deleted letters without rewriting the others', async () => {
  const folder = await someFolder();
  const letters = open(folder, { maxBytes: 100_000 });
  await letters.add(entries(1_000));
  const before = await sizeOf(folder);
  for (let round = 0; round < 3; round += 1) {
    const all = await letters.list({ limit: Infinity });
    expect(await letters.delete(all.filter((_, index) => index % 4 > 0).map(({ id }) => id))).toBe(
      Math.floor((all.length * 3) / 4),
    );
  }
  expect(await sizeOf(folder)).toBeLessThan(before / 4);
  expect(await numbers(open(folder))).toEqual(upTo(16).map((n) => n * 64));
});

test('rejects letters without space, before it stores any, and keeps the old ones', async () => {
  const folder = await someFolder();
  const letters = open(folder, { maxCount: 5 });
  await letters.add(entries(4));
  await expect(letters.add([...entries(1, 9, 'other'), ...entries(2, 4)])).rejects.toThrow(DeadLettersFullError);
  expect(await numbers(letters)).toEqual([0, 1, 2, 3]);
  expect(await letters.hasRoomFor(entries(1))).toBe(true);
  const small = open(folder, { maxBytes: 300 });
  await expect(small.add(entries(1))).rejects.toMatchObject({ code: 'dead_letters_full' });
  // The first letter of a node always fits.
  await small.add(entries(1, 0, 'other'));
});

test('drops the oldest letters if configured, and reports how many', async () => {
  const folder = await someFolder();
  let [stored, dropped] = [0, 0];
  const options = {
    maxBytes: 10_000,
    whenFull: 'drop_oldest',
    onStored: (_: string, count: number) => (stored += count),
    onDropped: (_: string, count: number) => (dropped += count),
  } as const;
  const letters = open(folder, options);
  for (let n = 0; n < 300; n += 3) await letters.add(entries(3, n));
  const kept = await numbers(letters);
  expect([stored, dropped + kept.length]).toEqual([300, 300]);
  expect(dropped).toBeGreaterThan(50);
  expect(kept).toEqual(upTo(kept.length).map((n) => 300 - kept.length + n));
  expect(await sizeOf(folder)).toBeLessThanOrEqual(10_700);
});

test('a crash during a write loses no earlier letter, and no later one', async () => {
  const folder = await someFolder();
  await open(folder).add(entries(3));
  const [name = ''] = await readdir(join(folder, 'dead-letters', 'out'));
  const path = join(folder, 'dead-letters', 'out', name);
  const whole = await readFile(path, 'utf8');
  for (const torn of [whole.slice(0, 60), '{', 'x'.repeat(100)]) {
    await writeFile(path, whole);
    await appendFile(path, torn);
    const letters = open(folder);
    expect(await numbers(letters)).toEqual([0, 1, 2]);
    await letters.add(entries(1, 3));
    expect(await numbers(open(folder))).toEqual([0, 1, 2, 3]);
  }
  const [first] = await open(folder).list({ limit: 1 });
  await open(folder).delete([first?.id ?? '']);
  await appendFile(path.replace('.ndjson', '.changes'), `-${Number(first?.id.slice(4)) + 1}`);
  // Half a change is none.
  expect(await numbers(open(folder))).toEqual([1, 2, 3]);
});

test('letters marked for redelivery survive a restart; those refused again return with a new reason', async () => {
  const folder = await someFolder();
  const letters = open(folder);
  await letters.add(entries(4));
  const ids = (await letters.list({ limit: 4 })).map(({ id }) => id);
  expect(await letters.replay('out', ids.slice(0, 2))).toBe(2);
  expect(await letters.replay('out', ids.slice(0, 2))).toBe(0);
  expect(await letters.replay('nowhere')).toBe(0);
  const later = open(folder);
  expect((await later.replaying('out', 10)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
  await later.returnReplayed(new Map([[ids[0] ?? '', 'again']]));
  expect(await open(folder).list({ limit: 2 })).toMatchObject([
    { id: ids[0], reason: 'again', replays: 1, isReplaying: false },
    { id: ids[1], reason: 'no', replays: 0, isReplaying: true },
  ]);
  expect(await open(folder).replay('out')).toBe(3);
});

/** A line of a file of an earlier release. */
const legacyLine = (n: number, node: string): string =>
  `{"at":"2026-01-02T03:04:05.000Z","node_id":"${node}","reason":"no","record_id":"r${n}","record":{"n":${n},"big":12345678901234567890}}\n`;

test('moves the files of an earlier release', async () => {
  const folder = await someFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'dead-letters.ndjson.1'), legacyLine(0, 'out') + legacyLine(1, 'in'));
  await writeFile(join(folder, 'dead-letters.ndjson'), `${legacyLine(2, 'out')}{"at":"torn`);
  const letters = open(folder);
  expect(await letters.stats()).toMatchObject({ out: { count: 2 }, in: { count: 1 } });
  expect(await letters.list({ nodeId: 'out', limit: 10 })).toMatchObject([
    { recordId: 'r0', at: Date.UTC(2026, 0, 2, 3, 4, 5), line: '{"n":0,"big":12345678901234567890}' },
    { recordId: 'r2' },
  ]);
  expect(await readdir(folder)).toEqual(['dead-letters']);
  expect(await numbers(open(folder), 'in')).toEqual([1]);
});

test('completes writes when it closes, and rejects later ones', async () => {
  const folder = await someFolder();
  const letters = open(folder);
  const adding = letters.add(entries(3));
  await letters.close();
  await adding;
  await expect(letters.add(entries(1))).rejects.toMatchObject({ code: 'closed' });
  await expect(letters.delete(['out.1'])).rejects.toMatchObject({ code: 'closed' });
  expect(await numbers(open(folder))).toEqual([0, 1, 2]);
});
