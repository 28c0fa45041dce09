import type { Clock } from '@connector-frame/engine';
import type { Database } from '../../store/database.js';

const CHANNEL = 'connector_frame_pipelines';
/** Milliseconds before a lost connection is made again; meanwhile the sweep finds what has changed. */
const AGAIN = 5_000;

/** Tells the process that runs the pipelines of a shared database that one has changed. A hint: it may be lost. */
export function tellOthers({ pool }: Pick<Database, 'pool'>, pipelineId: string): void {
  pool?.query('select pg_notify($1, $2)', [CHANNEL, pipelineId]).catch(() => undefined);
}

/** Hears what other processes tell, until `signal` is aborted. On the embedded database there are none. */
export async function listenForHints(
  { pool }: Pick<Database, 'pool'>,
  heard: (pipelineId: string) => void,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  if (!pool) return;
  while (!signal.aborted) {
    try {
      const client = await pool.connect();
      const over = new Promise<void>((resolve) => {
        client.once('error', () => resolve());
        client.once('end', () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      client.on('notification', ({ payload }) => payload !== undefined && heard(payload));
      try {
        await client.query(`listen ${CHANNEL}`);
        await over;
      } finally {
        // It must not go back to the others while it listens.
        client.release(true);
      }
    } catch {
      // The sweep goes on without it.
    }
    await clock.sleep(AGAIN, signal);
  }
}
