import type { Pool } from 'pg';
import { LEASE_KEY, SHARED } from './engine-leases.js';

/** A pipeline that a member runs. */
export interface Assignment {
  pipelineId: string;
  /** Fencing token: increases each time the lease is acquired. */
  token: number;
}

/** What a member learns with each renewal. */
export interface Membership {
  /** Ids of the members that have neither expired nor are leaving, in order. */
  members: string[];
  /** Number of pipelines in the database. */
  pipelines: number;
  /** Pipelines of this member. */
  assigned: Assignment[];
}

/** The lease of a pipeline, readable by every process. */
export interface PipelineHolder {
  memberId: string;
  token: number;
  /** Milliseconds until its member expires. */
  remainingMs: number;
}

/**
 * Members of a shared engine and their leases, by the clock of the database. A member renews one row for
 * all of its pipelines.
 */
export interface EngineMembers {
  /**
   * Adds or renews a member. Leases that others have acquired after it had expired are not returned.
   * Returns `undefined` while a single engine has the engine's lease.
   */
  renew(id: string, ttlMs: number, isLeaving: boolean): Promise<Membership | undefined>;
  /**
   * Notes where a member has its buffers. Returns a member that has not expired and has them elsewhere: it
   * would not find the records of this one.
   */
  noteBuffers(id: string, where: string): Promise<string | undefined>;
  /** Acquires up to `limit` leases that are free. */
  acquire(id: string, limit: number): Promise<Assignment[]>;
  /** Releases leases so that they can be acquired immediately. Leases that were lost are not changed. */
  release(id: string, assignments: readonly Assignment[]): Promise<void>;
  /** Removes a member; its leases become free. Also removes members that expired long ago. */
  leave(id: string): Promise<void>;
  /** Returns the members that run these pipelines, by pipeline. Pipelines without one are left out. */
  holders(pipelineIds: readonly string[]): Promise<Map<string, PipelineHolder>>;
  /** Deletes the lease of a pipeline that was removed. */
  forget(pipelineId: string): Promise<void>;
}

/** Milliseconds after which the pipelines of a member that does not renew are run by others. */
export const MEMBER_TTL = 6_000;
// Not `now()`: that is when the transaction began, which may have waited for a lock since.
const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint';
/** Milliseconds after which an expired member is deleted. */
const FORGET_MS = 3_600_000;

/**
 * Creates the queries of members.
 * @param pool connections that long statements of others can't use up
 */
export function createEngineMembers(pool: Pool): EngineMembers {
  return {
    async renew(id, ttlMs, isLeaving) {
      const written = await pool.query(
        `insert into engine_members (id, is_leaving, expires_at)
         select $1::text, $3::boolean, ${NOW} + $2::bigint where not exists (select from engine_state
           where key = $4 and (value::json ->> 'expires_at')::bigint > ${NOW}
             and value::json ->> 'holder' <> $1::text and value::json ->> 'holder' not like '${SHARED}%')
         on conflict (id) do update set is_leaving = excluded.is_leaving, expires_at = excluded.expires_at`,
        [id, ttlMs, isLeaving, LEASE_KEY],
      );
      if (written.rowCount === 0) return undefined;
      const { rows } = await pool.query<{ members: string[]; pipelines: string; assigned: [string, number][] | null }>(
        `select array(select id from engine_members where expires_at > ${NOW} and not is_leaving order by id) as members,
           (select count(*) from pipelines) as pipelines,
           (select json_agg(json_build_array(pipeline_id, token)) from engine_leases where member_id = $1) as assigned`,
        [id],
      );
      const [row] = rows;
      const assigned = (row?.assigned ?? []).map(([pipelineId, token]) => ({ pipelineId, token }));
      return { members: row?.members ?? [], pipelines: Number(row?.pipelines ?? 0), assigned };
    },

    async noteBuffers(id, where) {
      await pool.query('update engine_members set buffers = $2 where id = $1', [id, where]);
      const { rows } = await pool.query<{ id: string }>(
        `select id from engine_members where buffers <> $1 and expires_at > ${NOW} limit 1`,
        [where],
      );
      return rows[0]?.id;
    },

    async acquire(id, limit) {
      const { rows } = await pool.query<{ pipeline_id: string; token: string }>(
        `insert into engine_leases (pipeline_id, member_id, token)
         select p.id, $1, 1 from pipelines p
           left join engine_leases l on l.pipeline_id = p.id
           left join engine_members m on m.id = l.member_id and m.expires_at > ${NOW}
         where m.id is null order by p.id limit $2
         on conflict (pipeline_id) do update set member_id = excluded.member_id, token = engine_leases.token + 1
           where not exists (select from engine_members m where m.id = engine_leases.member_id and m.expires_at > ${NOW})
         returning pipeline_id, token`,
        [id, limit],
      );
      return rows.map(({ pipeline_id: pipelineId, token }) => ({ pipelineId, token: Number(token) }));
    },

    async release(id, assignments) {
      await pool.query(
        `update engine_leases l set member_id = null from unnest($2::text[], $3::bigint[]) as given (pipeline_id, token)
         where l.pipeline_id = given.pipeline_id and l.token = given.token and l.member_id = $1`,
        [id, assignments.map(({ pipelineId }) => pipelineId), assignments.map(({ token }) => token)],
      );
    },

    async leave(id) {
      await pool.query(`delete from engine_members where id = $1 or expires_at < ${NOW} - ${FORGET_MS}`, [id]);
    },

    async holders(pipelineIds) {
      const { rows } = await pool.query<{ pipeline_id: string; member_id: string; token: string; remaining: string }>(
        `select l.pipeline_id, l.member_id, l.token, m.expires_at - ${NOW} as remaining
         from engine_leases l join engine_members m on m.id = l.member_id
         where l.pipeline_id = any ($1) and m.expires_at > ${NOW}`,
        [pipelineIds],
      );
      return new Map(
        rows.map((row) => [
          row.pipeline_id,
          { memberId: row.member_id, token: Number(row.token), remainingMs: Number(row.remaining) },
        ]),
      );
    },

    async forget(pipelineId) {
      await pool.query('delete from engine_leases where pipeline_id = $1', [pipelineId]);
    },
  };
}
