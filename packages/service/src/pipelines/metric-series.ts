import type { CountsByNode } from '../store/tables.js';

/** What a series counts. */
export const METRICS = ['ingress_bytes', 'egress_bytes', 'ingress_records', 'egress_records', 'errors'] as const;
export type Metric = (typeof METRICS)[number];

/** One value of a series: what was counted in the interval that starts at `time`. */
export interface SeriesValue {
  /** Milliseconds since the epoch. */
  time: number;
  value: number;
}

/** Counts as they were at the end of a minute. */
export interface CountsAt {
  minute: Date;
  nodes: CountsByNode;
}

/** Counts of all nodes, as differences or totals. */
export type Sums = Readonly<Record<Metric, number>>;

/** Start, end and interval length of a series, in milliseconds. The start is a multiple of the length. */
export interface Span {
  start: number;
  end: number;
  step: number;
}

const NONE: Sums = { ingress_bytes: 0, egress_bytes: 0, ingress_records: 0, egress_records: 0, errors: 0 };

/**
 * Returns the differences between two counts of a pipeline: ingress of its inputs, egress of its
 * outputs, and all errors. A node that is missing in `before` has started at zero; one that is
 * missing in `after` was removed.
 * @param nodeId only this node, with its own ingress and egress
 */
export function increase(before: CountsByNode | undefined, after: CountsByNode, nodeId?: string): Sums {
  const sums = { ...NONE };
  for (const [id, { type, ingress, egress, errors }] of Object.entries(after)) {
    if (nodeId !== undefined && id !== nodeId) continue;
    const earlier = before?.[id];
    const isWhole = nodeId !== undefined;
    if (isWhole || type === 'input') {
      sums.ingress_bytes += less(ingress.bytes, earlier?.ingress.bytes);
      sums.ingress_records += less(ingress.records, earlier?.ingress.records);
    }
    if (isWhole || type === 'output') {
      sums.egress_bytes += less(egress.bytes, earlier?.egress.bytes);
      sums.egress_records += less(egress.records, earlier?.egress.records);
    }
    sums.errors += less(errors, earlier?.errors);
  }
  return sums;
}

/**
 * Returns the values of a series without gaps, oldest first. Their sum is what was counted in the
 * whole span.
 * @param before the last counts before the start of the span
 * @param rows the counts in the span, oldest first
 */
export function seriesOf(
  metric: Metric,
  { start, end, step }: Span,
  before: CountsByNode | undefined,
  rows: readonly CountsAt[],
  nodeId?: string,
): SeriesValue[] {
  const values: SeriesValue[] = [];
  for (let time = start; time < end; time += step) values.push({ time, value: 0 });
  let earlier = before;
  for (const { minute, nodes } of rows) {
    const value = values[Math.floor((minute.getTime() - start) / step)];
    if (value) value.value += increase(earlier, nodes, nodeId)[metric];
    earlier = nodes;
  }
  return values;
}

// A pipeline without a report counts nothing.
const less = (after: number, before = 0): number => Math.max(0, after - before);
