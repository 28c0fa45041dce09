import { expect, it } from 'vitest';
import { createBodyQuota } from './body-quota.js';

it('limits each sender, and makes returned bytes available again', () => {
  const room = createBodyQuota(100, 50);
  expect([room.take('a', 40), room.take('a', 20), room.take('a', 10)]).toEqual(['taken', 'own', 'taken']);
  room.give('a', 50);
  expect(room.take('a', 50)).toBe('taken');
});

it('leaves capacity for a new sender when others take all they can', () => {
  for (let greedy = 1; greedy <= 20; greedy += 1) {
    const room = createBodyQuota(1_000, 500);
    for (let round = 0; round < 1_000; round += 1)
      for (let who = 0; who < greedy; who += 1) room.take(`greedy ${who}`, 1);
    expect([greedy, room.take('quiet', Math.floor(1_000 / (greedy + 1) / 2))]).toEqual([greedy, 'taken']);
  }
});
