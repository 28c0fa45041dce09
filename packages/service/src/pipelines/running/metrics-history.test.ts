import { expect, it } from 'vitest';
import { intervalOf, MetricsHistory } from './metrics-history.js';

const counts = (records: number, errors = 0, failedAttempts = 0) => ({
  ingress: { records, bytes: records * 10 },
  egress: { records: records - errors, bytes: (records - errors) * 10 },
  errors,
  failedAttempts,
});
const START = intervalOf(1_700_000_004_000);

it('returns the counts of each interval without gaps, oldest first', () => {
  const history = new MetricsHistory();
  expect(history.points(START)).toEqual([]);
  history.begin(counts(100), START + 3_000);
  history.sample(counts(107, 2), START);
  history.sample(counts(110, 2), START + 20_000);
  expect(history.points(START + 31_000)).toEqual([
    { time: START, ingress: { records: 7, bytes: 70 }, egress: { records: 5, bytes: 50 }, errors: 2 },
    { time: START + 10_000, ingress: { records: 0, bytes: 0 }, egress: { records: 0, bytes: 0 }, errors: 0 },
    { time: START + 20_000, ingress: { records: 3, bytes: 30 }, egress: { records: 3, bytes: 30 }, errors: 0 },
  ]);
  // An interval is reported only once it is complete.
  expect(history.points(START + 29_000)).toHaveLength(2);
});

it('keeps at most ten minutes', () => {
  const history = new MetricsHistory();
  history.begin(counts(0), START);
  for (let n = 0; n < 200; n += 1) history.sample(counts(n + 1), START + n * 10_000);
  const points = history.points(START + 2_000_000);
  expect(points).toHaveLength(60);
  expect(points.every(({ ingress }) => ingress.records === 1)).toBe(true);
  expect(points.at(-1)?.time).toBe(START + 1_990_000);
});

it('returns no negative counts when a node is removed', () => {
  const history = new MetricsHistory();
  history.begin(counts(50), START);
  expect(history.sample(counts(10), START)).toMatchObject({ ingress: { records: 0 } });
  expect(history.sample(counts(12), START + 10_000)).toMatchObject({ ingress: { records: 2 } });
});

it('continues with the totals of a changed pipeline without losing what was counted since the last sample', () => {
  const history = new MetricsHistory();
  history.begin(counts(50), START);
  history.sample(counts(60), START);
  // A node with 40 of the records is removed; 5 were counted since the sample, and 2 after it.
  history.rebase(counts(65), counts(25));
  expect(history.sample(counts(27), START + 10_000)).toMatchObject({ ingress: { records: 7, bytes: 70 } });
});

it('adds up whole intervals, and tells whether it covers all of them', () => {
  const history = new MetricsHistory();
  expect(history.last(60_000, START + 60_000)).toMatchObject({ errors: 0, isWhole: false });
  history.begin(counts(0), START + 3_000);
  history.sample(counts(5, 1), START);
  history.sample(counts(9, 1, 2), START + 10_000);
  history.sample(counts(30, 1, 2), START + 50_000);
  expect(history.last(50_000, START + 60_000)).toEqual({
    ingress: { records: 25, bytes: 250 },
    egress: { records: 25, bytes: 250 },
    errors: 0,
    failedAttempts: 2,
    isWhole: true,
  });
  expect(history.last(60_000, START + 60_000)).toMatchObject({ ingress: { records: 30 }, errors: 1, isWhole: false });
});

it('counts nothing twice after the clock was set back', () => {
  const history = new MetricsHistory();
  history.begin(counts(0), START);
  history.sample(counts(5), START + 600_000);
  expect(history.last(60_000, START + 60_000)).toMatchObject({ ingress: { records: 0 } });
  history.sample(counts(7), START + 60_000);
  history.sample(counts(8), START + 50_000);
  expect(history.last(600_000, START + 660_000)).toMatchObject({ ingress: { records: 0 } });
});
