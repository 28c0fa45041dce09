import { randomUUID } from 'node:crypto';
import type { AuditLogs } from '../store/audit-logs.js';
import type { AuditAction } from '../store/tables.js';
import type { Author } from './author.js';

/** A change of what a pipeline keeps outside of the database. */
export interface Effect {
  organizationId: string;
  pipelineId: string;
  action: AuditAction;
  /** What the caller selected. Becomes `new`, together with the outcome. */
  selection: Record<string, unknown>;
}

/**
 * Runs a change that no transaction covers, and records it. The row is appended first, with
 * `completed: false`, so that no deletion of records goes unrecorded, even if the process is killed
 * in between; then the outcome is added.
 */
export async function recordEffect<T extends Record<string, unknown>>(
  auditLogs: AuditLogs,
  { actor, apiKeyId, requestId }: Author,
  now: Date,
  { organizationId, pipelineId, action, selection }: Effect,
  work: () => Promise<T>,
): Promise<T> {
  const id = randomUUID();
  await auditLogs.append([
    {
      id,
      organizationId,
      occurredAt: now,
      requestId,
      action,
      resourceType: 'pipeline_data',
      resourceId: pipelineId,
      apiKeyId,
      actor,
      old: null,
      new: { ...selection, completed: false },
      pipelineIds: [pipelineId],
    },
  ]);
  const outcome = await work();
  // The change has happened and its row exists, so a failure here must not fail the request.
  await auditLogs.complete(id, { ...selection, ...outcome, completed: true }).catch(() => undefined);
  return outcome;
}
