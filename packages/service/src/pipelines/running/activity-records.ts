import {
  type ActivityRecords,
  type Clock,
  ConnectorError,
  type DataRecord,
  isRecord,
  type JsonValue,
} from '@connector-frame/engine';
import type { AuditLogs, SequencedAuditLog } from '../../store/audit-logs.js';

const PAGE = 200;
/**
 * Changes that are more recent are left for later: a transaction that is still open may store one with
 * an earlier time, and the clocks of replicas differ.
 */
const SETTLE_MS = 30_000;

/** Creates the records of one organization's audit log, with the fields that its API has. */
export function createActivityRecords(
  logs: Pick<AuditLogs, 'forward'>,
  organizationId: string,
  clock: Pick<Clock, 'now'>,
): ActivityRecords {
  return {
    async after(cursor) {
      const until = clock.now() - SETTLE_MS;
      const from = positionIn(cursor);
      if (!from) return { records: [], cursor: { at: until, sequence: 0 } };
      const rows = await reading(() => logs.forward(organizationId, from, new Date(until), PAGE));
      const last = rows.at(-1);
      return {
        records: rows.map(toRecord),
        cursor: last ? { at: last.occurredAt.getTime(), sequence: last.sequence } : { ...from },
      };
    },
  };
}

function positionIn(cursor: JsonValue | undefined): { at: number; sequence: number } | undefined {
  if (!isRecord(cursor)) return undefined;
  const { at, sequence } = cursor;
  return typeof at === 'number' && typeof sequence === 'number' ? { at, sequence } : undefined;
}

async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw new ConnectorError('database_unavailable', 'The audit log could not be read from the database.');
  }
}

function toRecord(log: SequencedAuditLog): DataRecord {
  const record: DataRecord = JSON.parse(
    JSON.stringify({
      id: log.id,
      organization_id: log.organizationId,
      occurred_at: log.occurredAt.toISOString(),
      request_id: log.requestId,
      action: log.action,
      actor: log.actor,
      resource: { type: log.resourceType, id: log.resourceId, old: log.old, new: log.new },
    }),
  );
  return record;
}
