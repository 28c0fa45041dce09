import type { Pool } from 'pg';

// `id` needs an alias: `name` alone would be the pipeline's.
const gone = (id: string): string => `not exists (select from pipelines where pipelines.id = ${id})`;

/**
 * Deletes what a shared engine has stored for pipelines that were removed, also while no process ran. A
 * process that has not read the removal yet may have stored something after it.
 */
export async function removeOrphans(pool: Pool): Promise<void> {
  for (const table of ['engine_leases', 'engine_counts', 'engine_letters', 'engine_letter_counts', 'engine_logs'])
    await pool.query(`delete from ${table} r where r.pipeline_id is not null and ${gone('r.pipeline_id')}`);
  await pool.query(`delete from bus_streams s where ${gone("split_part(s.name, '.', 1)")}`);
  await pool.query(
    `delete from engine_state e where (e.key like 'cursor:%' or e.key like 'report:%')
       and ${gone("split_part(split_part(e.key, ':', 2), '/', 1)")}`,
  );
}

/** Returns the streams in JetStream of pipelines that were removed. */
export async function orphanedStreams(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select s.name from jetstream_streams s where ${gone("split_part(s.name, '.', 1)")}`,
  );
  return rows.map(({ name }) => name);
}

/** Hands counts to the process that runs their pipeline. */
export interface SharedCounts {
  add(counts: readonly { pipelineId: string; counts: string }[]): Promise<void>;
  /** Returns and removes the counts for pipelines. */
  take(pipelineIds: readonly string[]): Promise<{ pipelineId: string; counts: string }[]>;
}

export function createSharedCounts(pool: Pool): SharedCounts {
  return {
    async add(counts) {
      await pool.query('insert into engine_counts (pipeline_id, counts) select * from unnest($1::text[], $2::text[])', [
        counts.map(({ pipelineId }) => pipelineId),
        counts.map((each) => each.counts),
      ]);
    },
    async take(pipelineIds) {
      const { rows } = await pool.query<{ pipeline_id: string; counts: string }>(
        'delete from engine_counts where pipeline_id = any ($1) returning pipeline_id, counts',
        [pipelineIds],
      );
      return rows.map(({ pipeline_id: pipelineId, counts }) => ({ pipelineId, counts }));
    },
  };
}
