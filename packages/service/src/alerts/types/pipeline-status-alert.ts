import { z } from 'zod';
import { durationSchema } from '../duration.js';
import { aboutPipeline, defineRuleType, lastErrorOf, secondsOf } from '../rule-type.js';

/** The failure that makes a pipeline erroring is logged before the status is seen. */
const GRACE_MS = 60_000;

const settings = z.strictObject({
  status: z
    .enum(['Erroring', 'Throttled'])
    .describe(
      '`Erroring`: fails repeatedly or permanently. `Throttled`: the source or destination limits the rate, or the buffer is full.',
    ),
  time_window: durationSchema.prefault('5m').describe('How long the status must last: from `30s` to `30d`.'),
});

export const pipelineStatusAlert = defineRuleType({
  typeId: 'pipeline-status-alert',
  name: 'Pipeline status',
  description: 'A pipeline has been `Erroring` or `Throttled` for some time.',
  category: 'Operational',
  granularity: 'pipeline',
  house: 'Metrics',
  settings,
  compile: ({ status, time_window: window }) => ({
    reads: 'status',
    status,
    window,
    explain: (since, pipeline) => ({
      description:
        since === undefined
          ? `Pipeline "${pipeline.name}" is no longer ${status}.`
          : `Pipeline "${pipeline.name}" has been ${status} for at least ${window.text}.`,
      metadata: {
        ...aboutPipeline(pipeline),
        status: pipeline.status,
        watched_status: status,
        ...(since !== undefined && { since: secondsOf(since), ...lastErrorOf(pipeline, since - GRACE_MS) }),
        time_window: window.text,
      },
    }),
  }),
});
