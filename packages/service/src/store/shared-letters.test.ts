import { afterAll, expect, it, onTestFinished } from 'vitest';
import { postgresql } from '../../../../test/support/databases.js';
import { createSharedLetters } from './shared-letters.js';

const databases = postgresql();
afterAll(() => databases.close());

const letters = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ reason: 'no', recordId: `r${from + n}`, line: `{"n":${from + n}}` }));

const sequenceOf = (id = '') => Number(id.slice(id.indexOf('.') + 1));

async function openLetters(bounds = { maxBytes: 1e6, maxCount: 1e5 }) {
  const database = await databases.open();
  onTestFinished(() => database.close());
  const { pool } = database;
  if (!pool) throw new Error('This is not PostgreSQL.');
  let changes = 0;
  const open = (id: string) => createSharedLetters(pool, id, bounds, () => (changes += 1));
  return { open, changes: () => changes };
}

it('has letters of a node in order for every process, with the exact text of the record', async () => {
  const { open } = await openLetters();
  const [one, other] = [await open('p').open('out'), await open('p').open('out')];
  const exact = {
    reason: 'a "quoted",\nreason',
    recordId: 'x',
    line: '{"n":12345678901234567890,"t":"ü\\u0000"}',
    at: 5,
  };
  await Promise.all([one.add(letters(20)), other.add(letters(20, 20))]);
  await one.add([exact]);
  const all = await other.list(0, 100);
  expect(all).toHaveLength(41);
  expect(new Set(all.map(({ id }) => id)).size).toBe(41);
  expect(all.at(-1)).toMatchObject({ ...exact, nodeId: 'out', replays: 0, isReplaying: false });
  expect(await one.list(sequenceOf(all[39]?.id), 10)).toEqual(all.slice(40));
  expect(await other.delete([sequenceOf(all[0]?.id), 1])).toBe(1);
  expect((await one.stats()).count).toBe(40);
  expect(await open('p').nodeIds()).toEqual(['out']);
  expect(await (await open('q').open('out')).list(0, 10)).toEqual([]);
});

it('redelivers letters that were marked, and takes back what was refused again', async () => {
  const { open } = await openLetters();
  const node = await open('p').open('out');
  await node.add(letters(3));
  expect(await node.replay()).toBe(3);
  expect(await node.replay()).toBe(0);
  const [first, second] = (await node.replaying(10)).map(({ id }) => Number(id.slice(4)));
  await node.delete([first ?? 0]);
  await node.returnReplayed(new Map([[second ?? 0, 'again']]));
  expect(await node.replaying(10)).toHaveLength(1);
  expect(await node.list(0, 1)).toMatchObject([{ reason: 'again', replays: 1, isReplaying: false }]);
  expect(await node.purge()).toBe(2);
  expect(await node.stats()).toEqual({ count: 0, bytes: 0 });
});

it('keeps its bounds', async () => {
  const { open } = await openLetters({ maxBytes: 1e6, maxCount: 10 });
  const node = await open('p').open('out');
  expect(await node.hasRoomFor(letters(50))).toBe(true);
  await node.add(letters(10));
  expect(await node.hasRoomFor(letters(1))).toBe(false);
  await node.add(letters(5, 10));
  expect(await node.dropOldest()).toBe(5);
  expect((await node.list(0, 100)).map(({ recordId }) => recordId)).toEqual(
    letters(10, 5).map((each) => each.recordId),
  );
  await open('p').remove();
  expect(await open('p').nodeIds()).toEqual([]);
});
