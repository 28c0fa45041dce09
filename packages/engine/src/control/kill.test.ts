import { expect, test } from 'vitest';
import { longOr } from '../../../../test/support/long.js';
import { killPipelines, PAGE } from '../../../../test/support/kill-pipelines.js';
import { seededRandom } from '../testing/random.js';

test(
  'killed at random: what was acknowledged arrives, cursors are never ahead, a batch at most comes twice (R08)',
  async () => {
    const result = await killPipelines(longOr(200, 5), seededRandom(Date.now()));
    expect(result.pushed).toBeGreaterThan(20);
    expect(result.paged).toBeGreaterThan(PAGE);
    expect(result).toMatchObject({ lost: 0, cursorAhead: 0, broken: 0 });
    expect(result.pagedTwice).toBeLessThanOrEqual(PAGE * result.kills);
    expect(result.pushedTwice).toBeLessThanOrEqual(4 * result.kills);
  },
  longOr(1_800_000, 300_000),
);
