import { describe, expect, it } from 'vitest';
import type { CountsByNode } from '../store/tables.js';
import { increase, seriesOf } from './metric-series.js';
import { formatResolution, parseResolution, spanOf } from './resolution.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2030, 0, 15, 12, 30, 20);

const amount = (records: number) => ({ records, bytes: records * 10 });
/** Counts of a pipeline whose output has rejected `errors` of the records. */
const counts = (records: number, errors = 0): CountsByNode => ({
  in: { type: 'input', ingress: amount(records), egress: amount(records), errors: 0 },
  out: { type: 'output', ingress: amount(records), egress: amount(records - errors), errors },
});

it('counts the ingress of inputs, the egress of outputs and all errors', () => {
  expect(increase(counts(100), counts(107, 2))).toEqual({
    ingress_records: 7,
    ingress_bytes: 70,
    egress_records: 5,
    egress_bytes: 50,
    errors: 2,
  });
});

it('a new node starts at zero; a removed one, and one without a report, count nothing', () => {
  const { in: input, out } = counts(50);
  if (!input || !out) throw new Error('no node');
  expect(increase({ in: input }, { in: input, out }).egress_records).toBe(50);
  expect(increase({ in: input, out }, { in: input }).egress_records).toBe(0);
  expect(increase({ in: input, out }, counts(0)).ingress_records).toBe(0);
});

it('a series has no gaps and adds up to what was counted', () => {
  const span = { start: NOW - (NOW % HOUR), end: NOW, step: 5 * MINUTE };
  const at = (minutes: number, nodes: CountsByNode) => ({ minute: new Date(span.start + minutes * MINUTE), nodes });
  const rows = [at(0, counts(13)), at(4, counts(20)), at(17, counts(21, 1))];
  const values = seriesOf('ingress_records', span, counts(10), rows).map(({ value }) => value);
  expect(values).toEqual([10, 0, 0, 1, 0, 0, 0]);
  const ofNode = seriesOf('egress_records', span, counts(10), rows, 'in').map(({ value }) => value);
  expect(ofNode).toEqual([10, 0, 0, 1, 0, 0, 0]);
  expect(seriesOf('errors', span, counts(10), rows, 'in').every(({ value }) => value === 0)).toBe(true);
});

/** Returns the default resolution of a window of that many hours, which ended `before` hours ago. */
const stepOf = (hours: number, before = 0) =>
  formatResolution(
    spanOf({ start: new Date(NOW - (hours + before) * HOUR), end: new Date(NOW - before * HOUR) }, NOW, HOUR).step,
  );

describe('a resolution', () => {
  it.each([
    ['5m', 5 * MINUTE],
    ['90m', 90 * MINUTE],
    ['1h', HOUR],
    ['2d', 48 * HOUR],
    ['0m', undefined],
    ['5', undefined],
    ['5s', undefined],
    ['-1h', undefined],
    ['1 h', undefined],
  ])('%s', (text, length) => {
    expect(parseResolution(text)).toBe(length);
    if (length !== undefined) expect(formatResolution(length)).toBe(text);
  });

  it('is chosen by the window, and not finer than what is kept', () => {
    expect([stepOf(1), stepOf(6), stepOf(24), stepOf(25), stepOf(24 * 40)]).toEqual(['1m', '1m', '5m', '1h', '1d']);
    expect(stepOf(1, 30)).toBe('1h');
  });

  it('that is finer than what is kept, or has too many values, is refused', () => {
    const span = (hours: number, resolution: number) => () =>
      spanOf({ start: new Date(NOW - hours * HOUR), resolution }, NOW, HOUR);
    expect(span(24, MINUTE)).not.toThrow();
    expect(span(25, MINUTE)).toThrow('whole hours');
    expect(span(25, 90 * MINUTE)).toThrow('whole hours');
    expect(span(24 * 100, HOUR)).toThrow('at most 2000 values');
    expect(() => spanOf({ start: new Date(NOW), end: new Date(NOW) }, NOW, HOUR)).toThrow('start must be before end');
  });

  it('starts at a multiple of itself', () => {
    const { start, end } = spanOf({ resolution: 15 * MINUTE }, NOW, HOUR);
    expect([new Date(start).toISOString(), end]).toEqual(['2030-01-15T11:30:00.000Z', NOW]);
  });
});
