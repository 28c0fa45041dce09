import { z } from 'zod';
import type { WindowCounts } from '../counts.js';
import { windowSchema } from '../duration.js';
import { aboutPipeline, defineRuleType, lastErrorOf, secondsOf, type Verdict } from '../rule-type.js';

/** Bytes per unit. */
const UNITS = { KB: 1_000, MB: 1_000_000, GB: 1_000_000_000 } as const;

const direction = z.enum(['ingress', 'egress']).describe('What the input reads, or what the outputs write.');
const threshold = z.int().min(0);

const metricConfig = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('bytes'),
      bytes: z.strictObject({
        direction,
        threshold: threshold.describe('In the unit.'),
        unit: z.enum(['KB', 'MB', 'GB']).describe('1 KB is 1,000 bytes.'),
      }),
    }),
    z.strictObject({ type: z.literal('records'), records: z.strictObject({ direction, threshold }) }),
    z.strictObject({ type: z.literal('errors'), errors: z.strictObject({ threshold }) }),
  ])
  .describe(
    'What is counted. `errors`: records that failed permanently, and failed attempts to read or write while the pipeline is `Erroring`.',
  );

const settings = z.strictObject({
  metric_config: metricConfig,
  operator: z.enum(['greater_than', 'less_than']),
  time_window: windowSchema.describe(
    'Up to `10m` in steps of 10 seconds, up to `24h` in whole minutes, and up to `30d` in whole hours.',
  ),
});

type MetricConfig = z.output<typeof metricConfig>;

/** What a rule counts, in words and as a number. */
function metricOf(config: MetricConfig) {
  if (config.type === 'errors')
    return {
      threshold: config.errors.threshold,
      unit: 'errors',
      about: {},
      valueOf: ({ errors, failedAttempts }: WindowCounts): number => errors + failedAttempts,
    };
  if (config.type === 'records') {
    const { direction: side, threshold: limit } = config.records;
    return {
      threshold: limit,
      unit: side === 'ingress' ? 'records read' : 'records written',
      about: { direction: side },
      valueOf: (counts: WindowCounts): number => counts[side].records,
    };
  }
  const { direction: side, threshold: limit, unit } = config.bytes;
  return {
    threshold: limit,
    unit: `${unit} ${side === 'ingress' ? 'read' : 'written'}`,
    about: { direction: side, unit },
    valueOf: (counts: WindowCounts): number => counts[side].bytes / UNITS[unit],
  };
}

export const thresholdAlert = defineRuleType({
  typeId: 'threshold-alert',
  name: 'Pipeline threshold',
  description: 'The bytes, records or errors of a pipeline in a window of time are above or below a threshold.',
  category: 'Operational',
  granularity: 'pipeline',
  house: 'Metrics',
  settings,
  compile({ metric_config: config, operator, time_window: window }) {
    const metric = metricOf(config);
    const isAbove = operator === 'greater_than';
    return {
      reads: 'counts',
      window,
      isVolume: config.type !== 'errors',

      judge(counts, { isEnabled, status }): Verdict {
        const value = metric.valueOf(counts);
        if (isAbove) {
          // Missing samples could only increase the value.
          if (value > metric.threshold) return 'holds';
          // The waits between the attempts of a failing node become longer than a short window.
          const isFailing = config.type === 'errors' && status === 'Erroring';
          return counts.isWhole && !isFailing ? 'clear' : 'unknown';
        }
        // Paused on purpose.
        if (!isEnabled || value >= metric.threshold) return 'clear';
        return counts.isWhole && counts.isObserved ? 'holds' : 'unknown';
      },

      explain(counts, pipeline) {
        const value = metric.valueOf(counts);
        return {
          description: `Pipeline "${pipeline.name}": ${formatted(value)} ${metric.unit} in the last ${window.text} (${
            isAbove ? 'alert above' : 'alert below'
          } ${formatted(metric.threshold)}).`,
          metadata: {
            ...aboutPipeline(pipeline),
            metric: config.type,
            ...metric.about,
            operator,
            threshold: metric.threshold,
            value,
            ...(config.type === 'errors' && {
              failed_records: counts.errors,
              failed_attempts: counts.failedAttempts,
              ...lastErrorOf(pipeline, counts.from),
            }),
            time_window: window.text,
            window_start: secondsOf(counts.from),
            window_end: secondsOf(counts.to),
          },
        };
      },
    };
  },
});

const formatted = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 3 });
