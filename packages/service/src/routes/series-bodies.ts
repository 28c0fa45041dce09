import { z } from '@hono/zod-openapi';
import { METRICS, type SeriesValue } from '../pipelines/metric-series.js';
import { parseResolution } from '../pipelines/resolution.js';
import { WindowQuery } from './schemas.js';

export const Resolution = z
  .string()
  .refine((text) => parseResolution(text) !== undefined, 'Must be a number of minutes, hours or days, such as 5m.')
  .transform(parseResolution);
export const resolutionPattern = '^[1-9][0-9]{0,3}[mhd]$';
export const resolutionText = 'Length of an interval: a number of minutes, hours or days, such as `5m`, `1h` or `1d`.';

/** The query of a series, without the metric. */
export const ResolutionQuery = WindowQuery.extend({
  resolution: Resolution.optional().openapi({
    type: 'string',
    pattern: resolutionPattern,
    description: `${resolutionText} Default: chosen by the length of the window.`,
  }),
});

export const SeriesQuery = ResolutionQuery.extend({
  metric: z.enum(METRICS).openapi({ description: 'What to read.' }),
});

export const MetricValue = z
  .object({
    timestamp: z.int().openapi({ description: 'Start of the interval, in seconds since the epoch.' }),
    value: z.number(),
  })
  .openapi('MetricValue');

/** What all series have, besides what they are of. */
export const seriesFields = {
  organization_id: z.string(),
  organization_name: z.string(),
  start_at: z.iso.datetime().openapi({ description: 'Start of the first interval. RFC 3339.' }),
  end_at: z.iso.datetime().openapi({ description: 'RFC 3339.' }),
  resolution: z.string().openapi({ description: 'Length of an interval.', example: '5m' }),
};

export const presentValue = ({ time, value }: SeriesValue): z.output<typeof MetricValue> => ({
  timestamp: time / 1_000,
  value,
});
