import { checkPattern, compilePattern } from '@connector-frame/engine';
import { z } from 'zod';
import { durationSchema } from '../duration.js';
import { aboutPipeline, defineRuleType, secondsOf } from '../rule-type.js';

const messageFilter = z
  .strictObject({
    operator: z.enum(['contains', 'starts_with', 'ends_with', 'matches_regex']),
    value: z.string().min(1).max(1_000),
  })
  .superRefine(({ operator, value }, context) => {
    if (operator !== 'matches_regex') return;
    const problem = checkPattern(value);
    if (typeof problem === 'string') context.addIssue({ code: 'custom', path: ['value'], message: problem });
  });

const settings = z
  .strictObject({
    log_type: z.literal('pipeline').default('pipeline'),
    levels: z
      .array(z.enum(['debug', 'info', 'warn', 'error', 'fatal']))
      .max(5)
      .optional()
      .describe('Absent or empty: all.'),
    message_filter: messageFilter.optional().describe('Case-sensitive.'),
    dedupe_window: durationSchema
      .prefault('1h')
      .describe('An alert about a node is not repeated within this time: from `30s` to `30d`.'),
  })
  .refine(({ levels, message_filter: filter }) => (levels ?? []).length > 0 || filter !== undefined, {
    path: ['levels'],
    error: 'Set at least one level or a message_filter.',
  });

type MessageFilter = z.output<typeof messageFilter>;

function testOf({ operator, value }: MessageFilter): (message: string) => boolean {
  if (operator === 'contains') return (message) => message.includes(value);
  if (operator === 'starts_with') return (message) => message.startsWith(value);
  if (operator === 'ends_with') return (message) => message.endsWith(value);
  // Takes linear time, whatever the pattern.
  return compilePattern(value);
}

export const monadLogAlert = defineRuleType({
  typeId: 'monad-log-alert',
  name: 'Pipeline log',
  description: 'An entry of the log of a pipeline matches all filters. Alerts are about the node that logged it.',
  category: 'Operational',
  granularity: 'pipeline',
  house: 'Logs',
  settings,
  compile({ levels, message_filter: filter, dedupe_window: dedupe }) {
    const chosen = levels && levels.length > 0 ? new Set<string>(levels) : undefined;
    const test = filter && testOf(filter);
    return {
      reads: 'log',
      dedupe,
      matches: ({ level, message }) => (chosen?.has(level) ?? true) && (test?.(message) ?? true),
      explain({ sequence, at, level, code, message, nodeId }, matches, pipeline) {
        const slug = nodeId === undefined ? undefined : pipeline.slugOf(nodeId);
        const place = slug === undefined ? '' : `, node "${slug}"`;
        return {
          description: `Pipeline "${pipeline.name}"${place}: ${message}`,
          metadata: {
            ...aboutPipeline(pipeline),
            ...(nodeId !== undefined && { node_id: nodeId }),
            ...(slug !== undefined && { node_slug: slug }),
            log_type: 'pipeline',
            level,
            code,
            message,
            time: secondsOf(at),
            sequence,
            matches,
            dedupe_window: dedupe.text,
          },
        };
      },
    };
  },
});
