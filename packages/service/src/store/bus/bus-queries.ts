import type { Batch, ConsumerOptions, ConsumerStats, OverflowPolicy, StreamStats } from '@connector-frame/engine';
import type { Pool, PoolClient } from 'pg';
import { transactionOn } from '../database.js';
import { encodeBody, sizeOf } from './batch-body.js';
import { planGroup, type PlannedConsumer } from './plan-group.js';

/** A lease that must be held for what one consumer acknowledges. */
export interface BusFence {
  readonly pipelineId: string;
  readonly token: number;
}

/** What became of a batch. */
export type Outcome = { stored: true; sequence: number; repeated: boolean } | { stored: false };

/** A consumer with the limits of this bus applied. */
export interface DeclaredConsumer {
  name: string;
  policy: OverflowPolicy;
  maxBytes: number;
}

export interface StoredBatch {
  sequence: number;
  id: string;
  body: Buffer;
  recordBytes: number;
  publishedAt: number;
}

/** Ids that are remembered of deleted batches, and how many more there are before they are removed. */
export const RECENT_IDS = 1_024;
const PRUNE_EVERY = 256;
/** Part of the budget, of 8, below which dropping ends. */
const RESUME = 7;

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** The statements of the bus, on one pool of connections. */
export class BusQueries {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Creates a stream, or changes its consumers unless a later version of the pipeline has declared
   * them.
   */
  declare(name: string, consumers: readonly DeclaredConsumer[], version: number): Promise<void> {
    return transactionOn(this.#pool, async (client) => {
      await client.query(
        `insert into bus_streams (name, version, sequence, batches, records, bytes) values ($1, $2, 0, 0, 0, 0)
         on conflict (name) do nothing`,
        [name, version],
      );
      const { rows } = await client.query<{ id: string }>(
        'update bus_streams set version = $2 where name = $1 and version <= $2 returning id',
        [name, version],
      );
      const id = rows[0]?.id;
      if (id === undefined) return;
      const names = consumers.map((each) => each.name);
      // Also locks consumers that acknowledge at the same time: their backlog decides what is deleted.
      await client.query('select from bus_consumers where stream_id = $1 order by name for update', [id]);
      const removed = await client.query('delete from bus_consumers where stream_id = $1 and name <> all ($2)', [
        id,
        names,
      ]);
      for (const { name: consumer, policy, maxBytes } of consumers)
        await client.query(
          `insert into bus_consumers
           select s.id, $2, $3::text, $4::bigint, coalesce(min(b.sequence) - 1, s.sequence), s.batches - count(b.sequence),
             s.records - coalesce(sum(b.records), 0), s.bytes - coalesce(sum(b.bytes), 0), false, false, 0, 0, 0
           from bus_streams s left join bus_batches b on b.stream_id = s.id and $2 <> all (b.dropped_for)
           where s.id = $1 group by s.id
           on conflict (stream_id, name) do update set policy = excluded.policy, max_bytes = excluded.max_bytes,
             is_dropping = bus_consumers.is_dropping and excluded.policy = 'drop_newest'`,
          [id, consumer, policy, maxBytes],
        );
      if ((removed.rowCount ?? 0) > 0 && consumers.length > 0)
        await client.query(
          `delete from bus_batches b where b.stream_id = $1 and not exists (select from bus_consumers c
             where c.stream_id = $1 and c.sequence < b.sequence and c.name <> all (b.dropped_for))`,
          [id],
        );
    });
  }

  /**
   * Stores batches in one transaction. What follows a batch without space is not stored either.
   * Returns `undefined` if there is no such stream.
   * @param maxBytes budget of a stream without consumers
   */
  store(name: string, batches: readonly Batch[], maxBytes: number): Promise<Outcome[] | undefined> {
    return transactionOn(this.#pool, async (client) => {
      const locked = await client.query<StreamRow>(
        'select id, sequence, batches, records, bytes from bus_streams where name = $1 for update',
        [name],
      );
      const [stream] = locked.rows;
      if (!stream) return undefined;
      const consumers = await this.#consumers(client, stream.id);
      const { rows: known } = await client.query<{ id: string; sequence: string }>(
        'select id, sequence from bus_batch_ids where stream_id = $1 and id = any ($2)',
        [stream.id, batches.map(({ id }) => id)],
      );
      const planned: PlannedConsumer[] = consumers.map((row) => ({
        name: row.name,
        drops: row.policy === 'drop_newest',
        maxBytes: Number(row.max_bytes),
        backlog: Number(stream.bytes) - Number(row.bytes),
        isDropping: row.is_dropping,
        isBlocking: false,
        dropped: { batches: 0, records: 0, bytes: 0 },
      }));
      // Without consumers, all of the stream is the backlog.
      if (planned.length === 0) planned.push(await this.#whole(client, stream.id, maxBytes));
      const before = {
        sequence: Number(stream.sequence),
        known: new Map(known.map((row) => [row.id, Number(row.sequence)])),
      };
      const plan = planGroup(batches, planned, before);
      await this.#write(client, stream, plan.written, planned);
      return plan.outcomes;
    });
  }

  /** Returns when the first batch after the position of a consumer was published; `null`: there is none. */
  async oldestAt(stream: string, consumer: string): Promise<number | null | undefined> {
    const { rows } = await this.#pool.query<{ at: string | null }>(
      `select (select b.published_at from bus_batches b where b.stream_id = s.id and b.sequence > c.sequence
         and c.name <> all (b.dropped_for) order by b.sequence limit 1) as at
       from bus_streams s join bus_consumers c on c.stream_id = s.id where s.name = $1 and c.name = $2`,
      [stream, consumer],
    );
    const [row] = rows;
    return row && (row.at === null ? null : Number(row.at));
  }

  /** Returns batches of a consumer after a sequence, or after its position; `undefined` if it is not declared. */
  async read(
    stream: string,
    consumer: string,
    after: number | undefined,
    limit: number,
  ): Promise<StoredBatch[] | undefined> {
    const { rows } = await this.#pool.query<BatchRow>(
      `select b.sequence, b.id, b.body, b.record_bytes, b.published_at
       from bus_streams s join bus_consumers c on c.stream_id = s.id
       left join lateral (select * from bus_batches b where b.stream_id = s.id
         and b.sequence > greatest(c.sequence, $3) and c.name <> all (b.dropped_for) order by b.sequence limit $4) b on true
       where s.name = $1 and c.name = $2`,
      [stream, consumer, after ?? 0, limit],
    );
    if (rows.length === 0) return undefined;
    return rows.flatMap(({ sequence, id, body, record_bytes: recordBytes, published_at: publishedAt }) =>
      sequence === null
        ? []
        : [{ sequence: Number(sequence), id, body, recordBytes, publishedAt: Number(publishedAt) }],
    );
  }

  /**
   * Moves the position of a consumer forward, and deletes what no consumer needs anymore. Returns
   * whether the lease is held, and whether the consumer had rejected batches before.
   */
  advance(
    stream: string,
    consumer: string,
    to: number,
    fence: BusFence | undefined,
  ): Promise<{ ok: boolean; wasBlocking: boolean }> {
    return transactionOn(this.#pool, async (client) => {
      // A position that a crash of the server loses repeats batches; it loses none.
      await client.query('set local synchronous_commit = off');
      if (fence) {
        const held = await client.query(
          'select from engine_leases where pipeline_id = $1 and token = $2 and member_id is not null for share',
          [fence.pipelineId, fence.token],
        );
        if (held.rowCount === 0) return { ok: false, wasBlocking: false };
      }
      // Of two consumers that pass a batch at the same time, the later one deletes it.
      const { rows } = await client.query<{ stream_id: string; name: string; sequence: string; is_blocking: boolean }>(
        `select c.stream_id, c.name, c.sequence, c.is_blocking from bus_consumers c join bus_streams s on s.id = c.stream_id
         where s.name = $1 order by c.name for update of c`,
        [stream],
      );
      const mine = rows.find(({ name }) => name === consumer);
      if (!mine || Number(mine.sequence) >= to) return { ok: true, wasBlocking: false };
      await client.query(
        `with passed as (
           select count(*) as batches, coalesce(sum(records), 0) as records, coalesce(sum(bytes), 0) as bytes
           from bus_batches where stream_id = $1 and sequence > $3 and sequence <= $4 and $2 <> all (dropped_for)
         ), freed as (
           delete from bus_batches b where b.stream_id = $1 and b.sequence > $3 and b.sequence <= $4
             and not exists (select from bus_consumers c where c.stream_id = $1 and c.name <> $2
               and c.sequence < b.sequence and c.name <> all (b.dropped_for))
         )
         update bus_consumers c set sequence = $4, batches = c.batches + passed.batches,
           records = c.records + passed.records, bytes = c.bytes + passed.bytes, is_blocking = false,
           is_dropping = c.is_dropping and (s.bytes - c.bytes - passed.bytes) * 8 > c.max_bytes * ${RESUME}
         from passed, bus_streams s where c.stream_id = $1 and c.name = $2 and s.id = $1`,
        [mine.stream_id, consumer, mine.sequence, to],
      );
      return { ok: true, wasBlocking: mine.is_blocking };
    });
  }

  /** Returns the state of a stream, or `undefined` if there is none. */
  async stats(name: string, maxBytes: number): Promise<StreamStats | undefined> {
    const { rows } = await this.#pool.query<StatsRow>(
      `select s.sequence, s.batches, s.records, s.bytes, (select coalesce(json_agg(c), '[]') from bus_consumers c where c.stream_id = s.id) as consumers,
         case when exists (select from bus_consumers c where c.stream_id = s.id) then null else
           (select json_build_object('batches', count(*), 'records', coalesce(sum(records), 0), 'bytes', coalesce(sum(bytes), 0))
            from bus_batches b where b.stream_id = s.id) end as whole
       from bus_streams s where s.name = $1`,
      [name],
    );
    const [row] = rows;
    if (!row) return undefined;
    const consumers = row.consumers.map((each): [string, ConsumerStats] => [each.name, consumerStats(row, each)]);
    const slowest = consumers
      .map(([, stats]) => stats)
      .reduce<ConsumerStats | undefined>((most, each) => (most && most.bytes >= each.bytes ? most : each), undefined);
    const { batches, records, bytes } = slowest ?? row.whole ?? { batches: 0, records: 0, bytes: 0 };
    return {
      batches,
      records,
      bytes,
      maxBytes,
      full: row.consumers.some((each) => each.is_blocking),
      noSpace: false,
      consumers: Object.fromEntries(consumers),
      damagedBytes: 0,
    };
  }

  /** Returns the last sequence of each of these streams, by name. */
  async sequences(names: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await this.#pool.query<{ name: string; sequence: string }>(
      'select name, sequence from bus_streams where name = any ($1)',
      [names],
    );
    return new Map(rows.map(({ name, sequence }) => [name, Number(sequence)]));
  }

  async remove(name: string): Promise<void> {
    await this.#pool.query('delete from bus_streams where name = $1', [name]);
  }

  /**
   * Reads the consumers. Locks them if one drops batches, which changes its counts; otherwise
   * acknowledgments need not wait until the batches are on disk, and a backlog is at most overestimated.
   */
  async #consumers(client: PoolClient, streamId: string): Promise<ConsumerRow[]> {
    const text =
      'select name, policy, max_bytes, bytes, is_dropping from bus_consumers where stream_id = $1 order by name';
    const { rows } = await client.query<ConsumerRow>(text, [streamId]);
    if (!rows.some(({ policy }) => policy === 'drop_newest')) return rows;
    return (await client.query<ConsumerRow>(`${text} for update`, [streamId])).rows;
  }

  async #whole(client: PoolClient, streamId: string, maxBytes: number): Promise<PlannedConsumer> {
    const { rows } = await client.query<{ bytes: string }>(
      'select coalesce(sum(bytes), 0) as bytes from bus_batches where stream_id = $1',
      [streamId],
    );
    const dropped = { batches: 0, records: 0, bytes: 0 };
    return {
      name: '',
      drops: false,
      maxBytes,
      backlog: Number(rows[0]?.bytes ?? 0),
      isDropping: false,
      isBlocking: false,
      dropped,
    };
  }

  async #write(
    client: PoolClient,
    stream: StreamRow,
    written: ReturnType<typeof planGroup>['written'],
    consumers: readonly PlannedConsumer[],
  ): Promise<void> {
    const changed = consumers.filter((each) => each.isBlocking || each.dropped.batches > 0);
    for (const { name, isBlocking, isDropping, dropped } of changed)
      await client.query(
        `update bus_consumers set is_blocking = is_blocking or $3, is_dropping = $4, batches = batches + $5,
           records = records + $6, bytes = bytes + $7, dropped_batches = dropped_batches + $5,
           dropped_records = dropped_records + $6, dropped_bytes = dropped_bytes + $7
         where stream_id = $1 and name = $2`,
        [stream.id, name, isBlocking, isDropping, dropped.batches, dropped.records, dropped.bytes],
      );
    if (written.length === 0) return;
    const stored = written.filter(({ isStored }) => isStored);
    const sum = (of: (batch: Batch) => number): number => written.reduce((total, { batch }) => total + of(batch), 0);
    const sequence = written.at(-1)?.sequence ?? 0;
    await client.query(
      `with batches as (
         insert into bus_batches (stream_id, sequence, id, body, records, record_bytes, bytes, published_at, dropped_for)
         select $1, n.sequence, n.id, n.body, n.records, n.record_bytes, n.bytes, ${NOW}, string_to_array(n.dropped_for, ' ')
         from unnest($2::bigint[], $3::text[], $4::bytea[], $5::int[], $6::int[], $7::int[], $8::text[])
           as n (sequence, id, body, records, record_bytes, bytes, dropped_for)
       ), ids as (
         insert into bus_batch_ids (stream_id, id, sequence)
         select $1, n.id, n.sequence from unnest($9::text[], $10::bigint[]) as n (id, sequence)
       )
       update bus_streams set sequence = $11, batches = batches + $12, records = records + $13, bytes = bytes + $14
       where id = $1`,
      [
        stream.id,
        stored.map((each) => each.sequence),
        stored.map(({ batch }) => batch.id),
        stored.map(({ batch }) => encodeBody(batch.lines)),
        stored.map(({ batch }) => batch.lines.length),
        stored.map(({ batch }) => batch.bytes),
        stored.map(({ batch }) => sizeOf(batch)),
        stored.map(({ droppedFor }) => droppedFor.join(' ')),
        written.map(({ batch }) => batch.id),
        written.map((each) => each.sequence),
        sequence,
        written.length,
        sum(({ lines }) => lines.length),
        sum(sizeOf),
      ],
    );
    if (Math.floor(sequence / PRUNE_EVERY) > Math.floor(Number(stream.sequence) / PRUNE_EVERY))
      await client.query('delete from bus_batch_ids where stream_id = $1 and sequence <= $2', [
        stream.id,
        sequence - RECENT_IDS,
      ]);
  }
}

/** Applies the limits of a bus to the consumers of a stream. */
export const withLimits = (
  { name, policy = 'block', maxBytes = Infinity }: ConsumerOptions,
  limits: { maxBytes: number; maxSpillBytes: number },
): DeclaredConsumer => ({
  name,
  policy,
  maxBytes: Math.min(maxBytes, policy === 'spill' ? limits.maxSpillBytes : limits.maxBytes),
});

interface StreamRow {
  id: string;
  sequence: string;
  batches: string;
  records: string;
  bytes: string;
}

interface ConsumerRow {
  name: string;
  policy: string;
  max_bytes: string;
  bytes: string;
  is_dropping: boolean;
}

/** `sequence` is null in the one row of a consumer that has nothing to read. */
interface BatchRow {
  sequence: string | null;
  id: string;
  body: Buffer;
  record_bytes: number;
  published_at: string;
}

/** Numbers, because they come from JSON. */
interface StatsConsumer {
  name: string;
  max_bytes: number;
  batches: number;
  records: number;
  bytes: number;
  is_blocking: boolean;
  is_dropping: boolean;
  dropped_batches: number;
  dropped_records: number;
  dropped_bytes: number;
}

interface StatsRow {
  sequence: string;
  batches: string;
  records: string;
  bytes: string;
  consumers: StatsConsumer[];
  whole: { batches: number; records: number; bytes: number } | null;
}

const consumerStats = (stream: StatsRow, each: StatsConsumer): ConsumerStats => ({
  batches: Number(stream.batches) - each.batches,
  records: Number(stream.records) - each.records,
  bytes: Number(stream.bytes) - each.bytes,
  maxBytes: each.max_bytes,
  dropping: each.is_dropping,
  dropped: { batches: each.dropped_batches, records: each.dropped_records, bytes: each.dropped_bytes },
});
