import { Client } from 'pg';

/** What a change of the lease of a pipeline broke, one sentence each. */
export type Violations = string[];

export interface LeaseHistory {
  /** Number of times that a pipeline went from one process to another one, with or without a handover. */
  moves(): Promise<number>;
  violations(): Promise<Violations>;
  /** Number of pipelines without a process that may run them, now. */
  free(): Promise<number>;
}

/**
 * Records every change of the leases of pipelines with a trigger of the database, so that none is missed
 * between two looks.
 * @param url of the database, whose schema must exist
 */
export async function recordLeases(url: string): Promise<LeaseHistory> {
  await query(url, RECORD);
  const count = async (text: string): Promise<number> => Number((await query(url, text))[0]?.['n']);
  return {
    moves: () =>
      count(
        'select count(*) as n from (select distinct pipeline_id, member_id, token from lease_history where member_id is not null) as each',
      ),
    free: () => count(FREE),
    async violations() {
      const rows = await query(url, VIOLATIONS);
      return rows.map(({ problem, pipeline_id }) => `${String(problem)}: ${String(pipeline_id)}`);
    },
  };
}

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)';

const RECORD = `
  create table lease_history (
    id bigint generated always as identity primary key, pipeline_id text, member_id text, token bigint,
    previous_id text, previous_token bigint, previous_left_ms bigint
  );
  create function record_lease() returns trigger language plpgsql as $$ begin
    insert into lease_history (pipeline_id, member_id, token, previous_id, previous_token, previous_left_ms)
    values (new.pipeline_id, new.member_id, new.token, old.member_id, old.token,
      (select expires_at - ${NOW} from engine_members where id = old.member_id));
    return null;
  end $$;
  -- After: an insert that becomes an update is recorded once.
  create trigger record_lease after insert or update on engine_leases for each row execute function record_lease()`;

const FREE = `
  select count(*) as n from pipelines p
  where not exists (select from engine_leases l join engine_members m on m.id = l.member_id
    where l.pipeline_id = p.id and m.expires_at > ${NOW})`;

const VIOLATIONS = `
  select 'two processes had the same token' as problem, pipeline_id from lease_history
    where member_id is not null group by pipeline_id, token having count(distinct member_id) > 1
  union all
  select 'taken from a process that had not expired', pipeline_id from lease_history
    where member_id <> previous_id and previous_left_ms > 0
  union all
  select 'taken without a higher token', pipeline_id from lease_history
    where member_id is not null and member_id is distinct from previous_id and token <= previous_token`;
