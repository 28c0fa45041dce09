import { z } from '@hono/zod-openapi';
import type { PipelineMetrics } from './engine.js';
import { Amount } from './state-body.js';

/** Recent throughput of a pipeline in API responses. */
export const PipelineMetricsBody = z
  .object({
    pipeline_id: z.string(),
    interval_seconds: z.int(),
    points: z.array(
      z.object({
        time: z.iso.datetime().openapi({ description: 'Start of the interval, RFC 3339.' }),
        ingress: Amount,
        egress: Amount,
        errors: z.int(),
      }),
    ),
  })
  .openapi('PipelineMetrics');

export const presentMetrics = (pipelineId: string, { intervalSeconds, points }: PipelineMetrics) => ({
  pipeline_id: pipelineId,
  interval_seconds: intervalSeconds,
  points: points.map(({ time, ingress, egress, errors }) => ({
    time: new Date(time).toISOString(),
    ingress,
    egress,
    errors,
  })),
});
