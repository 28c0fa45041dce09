import type { Clock } from '@connector-frame/engine';
import type { Database } from '../../store/database.js';

const CHANNEL = 'connector_frame_pipelines';
/** Sent instead of the id of a pipeline when alert rules have changed. */
export const RULES_CHANGED = 'alert_rules';
/**
 * Milliseconds before reconnecting after a lost connection; until then, the sweep finds changes.
 */
const RETRY_MS = 5_000;
/** Milliseconds between checks that the connection still works. */
const CHECK_MS = 30_000;

/**
 * Notifies the process that runs the pipelines of a shared database that one has changed. The
 * notification may be lost.
 */
export function notifyOthers({ pool }: Pick<Database, 'pool'>, pipelineId: string): void {
  pool?.query('select pg_notify($1, $2)', [CHANNEL, pipelineId]).catch(() => undefined);
}

/**
 * Listens for notifications of other processes until `signal` is aborted. The embedded database has
 * no other processes, so this returns immediately.
 */
export async function listenForChanges(
  { pool }: Pick<Database, 'pool'>,
  onChange: (pipelineId: string) => void,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  if (!pool) return;
  while (!signal.aborted) {
    try {
      const client = await pool.connect();
      const lost = new AbortController();
      client.once('error', () => lost.abort());
      client.once('end', () => lost.abort());
      client.on('notification', ({ payload }) => payload !== undefined && onChange(payload));
      try {
        await client.query(`listen ${CHANNEL}`);
        const over = AbortSignal.any([signal, lost.signal]);
        while (!over.aborted) {
          await clock.sleep(CHECK_MS, over);
          // A network that drops packets closes no connection.
          if (!over.aborted) await client.query('select 1');
        }
      } finally {
        // Destroys the connection: it must not return to the pool while it listens.
        client.release(true);
      }
    } catch {
      // The sweep finds changes without notifications.
    }
    await clock.sleep(RETRY_MS, signal);
  }
}
