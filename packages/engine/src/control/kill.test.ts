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

test(
  'killed at random while several batches are written at a time: what was acknowledged arrives, and few come twice',
  async () => {
    const concurrent = { writes: 8, records: 20 };
    const result = await killPipelines(longOr(200, 5), seededRandom(Date.now()), concurrent);
    expect(result.pushed).toBeGreaterThan(20);
    expect(result.paged).toBeGreaterThan(PAGE);
    expect(result).toMatchObject({ lost: 0, cursorAhead: 0, broken: 0 });
    // Twice the number of writes at a time, what is collected for the next one, and the parts of
    // stored batches or pages at both ends.
    const unacknowledged = (2 * concurrent.writes + 1) * concurrent.records;
    expect(result.pushedTwice).toBeLessThanOrEqual((unacknowledged + 2 * 4) * result.kills);
    expect(result.pagedTwice).toBeLessThanOrEqual((unacknowledged + 2 * PAGE) * result.kills);
  },
  longOr(1_800_000, 60_000),
);
