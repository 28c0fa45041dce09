import { expect, test } from 'vitest';
import { seededRandom } from '../testing/random.js';
import { Unacknowledged } from './unacknowledged.js';

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

function track(acknowledge: (value: number) => Promise<boolean> = () => Promise.resolve(true)) {
  const acknowledged: number[] = [];
  const failures: string[] = [];
  const unacknowledged = new Unacknowledged<number>({
    merge: (_before, after) => after,
    acknowledge: async (value) => {
      const stored = await acknowledge(value);
      if (stored) acknowledged.push(value);
      return stored;
    },
    onFailure: () => failures.push('failed'),
  });
  return { unacknowledged, acknowledged, failures };
}

test('acknowledges an entry only when all entries before it are finished', async () => {
  const { unacknowledged, acknowledged } = track();
  const [first, second, third, fourth] = [1, 2, 3, 4].map((value) => unacknowledged.add(value));
  third?.();
  second?.();
  await tick();
  expect(acknowledged).toEqual([]);
  first?.();
  await tick();
  expect(acknowledged).toEqual([3]);
  fourth?.();
  expect(await unacknowledged.settled()).toBe(true);
  expect(acknowledged).toEqual([3, 4]);
});

test('acknowledges the longest finished prefix, whatever the order, with one call at a time', async () => {
  const random = seededRandom(3);
  for (let round = 0; round < 30; round += 1) {
    let calls = 0;
    const { unacknowledged, acknowledged } = track(async () => {
      calls += 1;
      expect(calls).toBe(1);
      for (let wait = random() * 3; wait > 0; wait -= 1) await tick();
      calls -= 1;
      return true;
    });
    const open = new Map<number, () => void>();
    let added = 0;
    while (acknowledged.at(-1) !== 60) {
      if (added < 60 && random() < 0.5) open.set((added += 1), unacknowledged.add(added));
      const numbers = [...open.keys()];
      const number = numbers[Math.floor(random() * numbers.length)];
      if (number !== undefined && random() < 0.5) {
        open.get(number)?.();
        open.delete(number);
      }
      const oldest = Math.min(...open.keys(), added + 1);
      expect(acknowledged.at(-1) ?? 0).toBeLessThan(oldest);
      if (random() < 0.3) await tick();
    }
    expect(acknowledged).toEqual(acknowledged.toSorted((a, b) => a - b));
  }
});

test('acknowledges nothing after a failure, and reports it', async () => {
  const { unacknowledged, acknowledged, failures } = track(() => Promise.reject(new Error('disk full')));
  const [first, second] = [1, 2].map((value) => unacknowledged.add(value));
  first?.();
  await tick();
  second?.();
  await expect(unacknowledged.settled()).rejects.toThrow('disk full');
  expect(unacknowledged.hasFailed).toBe(true);
  expect(acknowledged).toEqual([]);
  expect(failures.length).toBeGreaterThan(0);
});
