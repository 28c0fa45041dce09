import { expect, it } from 'vitest';
import { createBodyQuota } from './body-quota.js';

it('holds so much for one, and so much for all, and gives back what was given', () => {
  const room = createBodyQuota(100, 50);
  expect([room.take('a', 40), room.take('a', 20), room.take('a', 10)]).toEqual(['taken', 'own', 'taken']);
  room.give('a', 50);
  expect(room.take('a', 50)).toBe('taken');
});

it('however many take all they can get, there is room for one who has nothing yet', () => {
  for (let greedy = 1; greedy <= 20; greedy += 1) {
    const room = createBodyQuota(1_000, 500);
    for (let round = 0; round < 1_000; round += 1)
      for (let who = 0; who < greedy; who += 1) room.take(`greedy ${who}`, 1);
    expect([greedy, room.take('quiet', Math.floor(1_000 / (greedy + 1) / 2))]).toEqual([greedy, 'taken']);
  }
});
