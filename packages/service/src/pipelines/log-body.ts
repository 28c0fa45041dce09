import { z } from '@hono/zod-openapi';
import type { LogEntry } from '@connector-frame/engine';
import type { FollowedEntry } from './engine.js';

/** One entry of a pipeline's log in API responses. */
export const LogEntryBody = z
  .object({
    sequence: z.int().openapi({ description: 'Increases with each entry, also over restarts of the service.' }),
    time: z.iso.datetime().openapi({ description: 'RFC 3339.' }),
    level: z.enum(['info', 'warn', 'error']),
    code: z.string().openapi({ description: 'Stable event code.' }),
    message: z.string(),
    node_id: z.string().optional(),
  })
  .openapi('PipelineLogEntry');

/** An event of a log stream, for the documentation. */
export const LOG_EVENT = `id: 1042
event: entry
data: {"sequence":1042,"time":"2026-01-31T12:00:00.000Z","level":"info","code":"started","message":"pipeline started"}

`;

export const presentLogEntry = ({ sequence, at, level, code, message, nodeId }: LogEntry) => ({
  sequence,
  time: new Date(at).toISOString(),
  level,
  code,
  message,
  ...(nodeId === undefined ? {} : { node_id: nodeId }),
});

/** Presents an entry of an organization's streams. */
export const presentFollowedEntry = ({ pipelineId, details, ...entry }: FollowedEntry) => ({
  ...presentLogEntry(entry),
  ...(pipelineId === undefined ? {} : { pipeline_id: pipelineId }),
  ...details,
});
