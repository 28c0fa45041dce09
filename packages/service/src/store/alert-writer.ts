import type { DataRecord } from '@connector-frame/engine';
import { and, asc, inArray, isNull, sql } from 'drizzle-orm';
import type { Alert } from './alerts.js';
import type { Database } from './database.js';
import { isLeaseHeld, type EngineRight } from './engine-leases.js';
import type { AlertRule } from './store.js';
import {
  alertEvents,
  alertFeeds,
  alertRules,
  alerts,
  organizations,
  pipelines,
  type AlertEventName,
} from './tables.js';

/** A new or changed alert. */
export interface AlertChange {
  alert: Alert;
  isNew: boolean;
  /** What happened to the alert, and the alert in API format. */
  event?: { name: AlertEventName; record: DataRecord };
}

/** Access of the process that runs the pipelines. */
export interface AlertWriter {
  /** Returns a text that changes whenever a rule of any organization changes. */
  revision(): Promise<string>;
  /** Returns the rules of all organizations, also those that are not active. */
  rules(): Promise<AlertRule[]>;
  /** Returns the alerts of all organizations that are firing. */
  firing(): Promise<Alert[]>;
  /** Stores where an input that delivers alerts begins, unless it is stored: after the newest event. */
  beginFeed(pipelineId: string, nodeId: string): Promise<void>;
  /**
   * Stores changes of alerts and their events. Each alert is stored together with its event. Returns
   * the ids of those that were stored: not those of an organization that was deleted, new ones whose
   * rule has another firing alert for the resource, or any by a process that has lost the lease.
   */
  commit(changes: readonly AlertChange[], now: Date): Promise<Set<string>>;
}

/**
 * Alerts per transaction. A transaction holds the row of the lease, so a long one would delay its
 * renewal.
 */
const MAX_CHANGES = 250;

/** @param right what entitles this process to write */
export function createAlertWriter(database: Database, right: EngineRight): AlertWriter {
  const { queries } = database;

  const commitSome = (changes: readonly AlertChange[], now: Date): Promise<string[]> =>
    database.transaction(async (tx) => {
      const organizationIds = [...new Set(changes.map(({ alert }) => alert.organizationId))];
      const held = await tx
        .select({ id: organizations.id })
        .from(organizations)
        .where(and(inArray(organizations.id, organizationIds), isLeaseHeld(right)))
        .orderBy(asc(organizations.id))
        .for('key share');
      const existing = new Set(held.map(({ id }) => id));
      const possible = changes.filter(({ alert }) => existing.has(alert.organizationId));
      const added = possible.filter(({ isNew }) => isNew).map(({ alert }) => alert);
      const changed = possible.filter(({ isNew }) => !isNew).map(({ alert }) => alert);
      const stored = new Set<string>();
      if (added.length > 0) {
        const rows = await tx.insert(alerts).values(added).onConflictDoNothing().returning({ id: alerts.id });
        for (const { id } of rows) stored.add(id);
      }
      if (changed.length > 0) {
        const rows = await tx
          .update(alerts)
          .set({
            name: sql`incoming.name`,
            description: sql`incoming.description`,
            severity: sql`incoming.severity`,
            metadata: sql`incoming.metadata`,
            firedAt: sql`incoming.fired_at`,
            lastMatchAt: sql`incoming.last_match_at`,
            clearingStartedAt: sql`incoming.clearing_started_at`,
            resolvedAt: sql`incoming.resolved_at`,
          })
          .from(
            sql`(values ${sql.join(changed.map(valuesOf), sql`, `)}) as incoming (id, name, description, severity, metadata, fired_at, last_match_at, clearing_started_at, resolved_at)`,
          )
          .where(and(sql`${alerts.id} = incoming.id`, isNull(alerts.resolvedAt)))
          .returning({ id: alerts.id });
        for (const { id } of rows) stored.add(id);
      }
      const events = possible.flatMap(({ alert, event }) =>
        event && stored.has(alert.id)
          ? [
              {
                organizationId: alert.organizationId,
                alertId: alert.id,
                pipelineId: alert.pipelineId,
                event: event.name,
                occurredAt: now,
                alert: event.record,
              },
            ]
          : [],
      );
      if (events.length > 0) await tx.insert(alertEvents).values(events);
      return [...stored];
    });

  return {
    async revision() {
      const [row] = await queries
        .select({
          revision: sql<string>`count(*) || ' ' || coalesce(sum(hashtextextended(${alertRules.id} || ' ' || ${alertRules.version}, 0)), 0)`,
        })
        .from(alertRules);
      return row?.revision ?? '';
    },

    rules: () => queries.select().from(alertRules).orderBy(asc(alertRules.createdAt), asc(alertRules.id)),

    firing: () => queries.select().from(alerts).where(isNull(alerts.resolvedAt)),

    async beginFeed(pipelineId, nodeId) {
      await queries
        .insert(alertFeeds)
        .select(
          sql`select p.id, ${nodeId}, coalesce((select max(sequence) from ${alertEvents}), 0)
            from ${pipelines} as p where p.id = ${pipelineId} and ${isLeaseHeld(right)} for key share of p`,
        )
        .onConflictDoNothing();
    },

    async commit(changes, now) {
      const stored = new Set<string>();
      for (let from = 0; from < changes.length; from += MAX_CHANGES)
        for (const id of await commitSome(changes.slice(from, from + MAX_CHANGES), now)) stored.add(id);
      return stored;
    },
  };
}

const time = (value: Date | null) => sql`${value?.toISOString() ?? null}::timestamptz`;

const valuesOf = (alert: Alert) =>
  sql`(${alert.id}, ${alert.name}, ${alert.description}, ${alert.severity}, ${JSON.stringify(alert.metadata)}::jsonb, ${time(alert.firedAt)}, ${time(alert.lastMatchAt)}, ${time(alert.clearingStartedAt)}, ${time(alert.resolvedAt)})`;
