import type { Logger } from 'pino';
import { describeError } from './describe-error.js';
import { removeExpired } from './store/remove-expired.js';
import type { Store } from './store/store.js';

/** Milliseconds between deletions of expired rows. */
const INTERVAL = 600_000;
/** Milliseconds after which a user without any role is deleted. */
const UNUSED_USER_MS = 30 * 86_400_000;
/** Users that one sweep deletes at most. */
const MAX_USERS = 1_000;

export interface Sweeper {
  /** Stops it, and resolves when the statement that is running has ended. */
  stop(): Promise<void>;
}

export interface SweeperOptions {
  store: Pick<
    Store,
    | 'idempotency'
    | 'auditLogs'
    | 'alerts'
    | 'alertEvents'
    | 'signIns'
    | 'consents'
    | 'invitations'
    | 'users'
    | 'transaction'
  >;
  /** Days for which the audit log is kept. */
  auditLogDays: number;
  /** Days for which resolved alerts, and what happened to alerts, are kept. */
  alertDays: number;
  log: Logger;
}

/**
 * Deletes expired idempotency keys, sign-ins, consents, invitations, key-value entries, rows of the audit log and
 * alerts, and users without a role, now and then at an interval.
 * Every replica may do it.
 */
export function startSweeper({ store, auditLogDays, alertDays, log }: SweeperOptions): Sweeper {
  const ending = new AbortController();
  let running: Promise<void> | undefined;

  async function sweep(): Promise<void> {
    const now = Date.now();
    try {
      await store.idempotency.sweep(new Date(now));
      await store.signIns.sweep(new Date(now));
      await store.consents.sweep(new Date(now));
      await store.invitations.sweep(new Date(now));
      const unused = await store.users.sweep(new Date(now - UNUSED_USER_MS), MAX_USERS);
      if (unused > 0) log.info({ rows: unused }, 'users without a role deleted');
      const { signal } = ending;
      const { auditLogs, alerts, alertEvents } = store;
      const logs = await removeExpired((time, limit) => auditLogs.removeBefore(time, limit), {
        now,
        days: auditLogDays,
        signal,
      });
      if (logs > 0) log.info({ rows: logs }, 'expired audit log rows deleted');
      const expired = { now, days: alertDays, signal };
      const removed =
        (await removeExpired((time, limit) => alerts.removeResolvedBefore(time, limit), expired)) +
        (await removeExpired((time, limit) => alertEvents.removeBefore(time, limit), expired));
      if (removed > 0) log.info({ rows: removed }, 'expired alerts deleted');
      while (!ending.signal.aborted)
        if (!(await store.transaction((tables) => tables.keyValues.sweep(new Date(now))))) break;
    } catch (error) {
      log.warn({ problem: describeError(error) }, 'could not delete expired rows; will retry');
    }
  }

  // One at a time: a sweep may take longer than the interval.
  const start = (): void => {
    running ??= sweep().finally(() => (running = undefined));
  };
  start();
  const timer = setInterval(start, INTERVAL);
  return {
    async stop() {
      clearInterval(timer);
      ending.abort();
      await running;
    },
  };
}
