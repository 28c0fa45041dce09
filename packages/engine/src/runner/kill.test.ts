import { expect, test } from 'vitest';
import { killPipelines, PAGE } from '../testing/kill-pipelines.js';
import { seededRandom } from '../testing/random.js';

test('killed at random: what was acknowledged arrives, cursors are never ahead, a batch at most comes twice', async () => {
  const result = await killPipelines(5, seededRandom(Date.now()));
  expect(result.pushed).toBeGreaterThan(20);
  expect(result.paged).toBeGreaterThan(PAGE);
  expect(result).toMatchObject({ lost: 0, cursorAhead: 0, broken: 0 });
  expect(result.pagedTwice).toBeLessThanOrEqual(PAGE * result.kills);
  expect(result.pushedTwice).toBeLessThanOrEqual(4 * result.kills);
}, 60_000);
