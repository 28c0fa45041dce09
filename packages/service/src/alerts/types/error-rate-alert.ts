import { z } from 'zod';
import type { WindowCounts } from '../counts.js';
import { windowSchema } from '../duration.js';
import { aboutPipeline, defineRuleType, lastErrorOf, secondsOf, type Verdict } from '../rule-type.js';

const settings = z.strictObject({
  threshold: z.number().min(0).max(100).describe('Percentage of the records read that failed permanently.'),
  time_window: windowSchema.describe(
    'Up to `10m` in steps of 10 seconds, up to `24h` in whole minutes, and up to `30d` in whole hours.',
  ),
  min_records: z.int().min(0).default(100).describe('With fewer records read in the window, the rate is not judged.'),
});

/** Returns errors per records read, in percent. */
const rateOf = ({ errors, ingress }: WindowCounts): number =>
  ingress.records === 0 ? 0 : (errors / ingress.records) * 100;

export const errorRateAlert = defineRuleType({
  typeId: 'error-rate-alert',
  name: 'Pipeline error rate',
  description: 'The part of the records of a pipeline that fails permanently is above a percentage.',
  category: 'Data Quality',
  granularity: 'pipeline',
  house: 'Metrics',
  settings,
  compile: ({ threshold, time_window: window, min_records: minimum }) => ({
    reads: 'counts',
    window,
    isVolume: false,

    judge(counts): Verdict {
      if (!counts.isWhole) return 'unknown';
      return counts.ingress.records >= minimum && rateOf(counts) > threshold ? 'holds' : 'clear';
    },

    explain(counts, pipeline) {
      const { errors, ingress } = counts;
      const rate = Math.round(rateOf(counts) * 100) / 100;
      return {
        description: `Pipeline "${pipeline.name}": ${rate}% of ${ingress.records.toLocaleString('en-US')} records failed in the last ${window.text} (alert above ${threshold}%).`,
        metadata: {
          ...aboutPipeline(pipeline),
          threshold,
          error_rate: rate,
          errors,
          records: ingress.records,
          min_records: minimum,
          ...lastErrorOf(pipeline, counts.from),
          time_window: window.text,
          window_start: secondsOf(counts.from),
          window_end: secondsOf(counts.to),
        },
      };
    },
  }),
});
