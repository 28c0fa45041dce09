import type { Database } from '../../packages/service/src/store/database.js';

/** Lets the lease of the engine expire, as if its holder had not renewed it for 15 seconds. */
export async function expireEngineLease(database: Pick<Database, 'script'>): Promise<void> {
  await database.script((run) =>
    run(
      `update engine_state set value = jsonb_set(value::jsonb, '{expires_at}', '0')::text where key = 'lease:engine/'`,
    ),
  );
}
