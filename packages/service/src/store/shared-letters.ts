import {
  hasRoomFor,
  type LetterBounds,
  type LetterStats,
  type LetterStorage,
  type NewLetter,
  type NodeLetters,
  type StoredLetter,
} from '@connector-frame/engine';
import type { Pool, PoolClient } from 'pg';
import { transactionOn } from './database.js';

/** What a row takes besides the record, about. */
const ROW_BYTES = 200;

interface LetterRow {
  sequence: string;
  stored_at: string;
  reason: string;
  record_id: string;
  line: Buffer;
  replays: number;
  is_replaying: boolean;
}

/** Creates the storage of the dead letters of one pipeline in the database, for all processes. */
export function createSharedLetters(
  pool: Pool,
  pipelineId: string,
  bounds: LetterBounds,
  changed: () => void,
): LetterStorage {
  return {
    async nodeIds() {
      const { rows } = await pool.query<{ node_id: string }>(
        'select node_id from engine_letter_counts where pipeline_id = $1 order by node_id',
        [pipelineId],
      );
      return rows.map(({ node_id: id }) => id);
    },
    open: (nodeId) => Promise.resolve(new SharedNodeLetters(pool, pipelineId, nodeId, bounds)),
    async remove() {
      await pool.query('delete from engine_letters where pipeline_id = $1', [pipelineId]);
      await pool.query('delete from engine_letter_counts where pipeline_id = $1', [pipelineId]);
    },
    changed,
  };
}

class SharedNodeLetters implements NodeLetters {
  readonly nodeId: string;
  readonly #pool: Pool;
  readonly #pipelineId: string;
  readonly #bounds: LetterBounds;

  constructor(pool: Pool, pipelineId: string, nodeId: string, bounds: LetterBounds) {
    this.#pool = pool;
    this.#pipelineId = pipelineId;
    this.nodeId = nodeId;
    this.#bounds = bounds;
  }

  get #key(): [string, string] {
    return [this.#pipelineId, this.nodeId];
  }

  async stats(): Promise<LetterStats> {
    const { rows } = await this.#pool.query<{ count: string; bytes: string }>(
      'select count, bytes from engine_letter_counts where pipeline_id = $1 and node_id = $2',
      this.#key,
    );
    return { count: Number(rows[0]?.count ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
  }

  async hasRoomFor(letters: readonly NewLetter[]): Promise<boolean> {
    return hasRoomFor(letters, await this.stats(), this.#bounds);
  }

  add(letters: readonly NewLetter[]): Promise<void> {
    const lines = letters.map(({ line }) => Buffer.from(line));
    const sizes = lines.map((line) => line.length + ROW_BYTES);
    const now = Date.now();
    return transactionOn(this.#pool, async (client) => {
      // Ids are not reused after everything was deleted.
      const { rows } = await client.query<{ last: string }>(
        `insert into engine_letter_counts as c (pipeline_id, node_id, count, bytes, last_sequence)
         values ($1, $2, $3, $4, $5::bigint + $3)
         on conflict (pipeline_id, node_id) do update set count = c.count + excluded.count, bytes = c.bytes + excluded.bytes,
           last_sequence = greatest(c.last_sequence, $5) + $3
         returning last_sequence as last`,
        [...this.#key, letters.length, sizes.reduce((sum, size) => sum + size, 0), now * 1_000],
      );
      const first = Number(rows[0]?.last) - letters.length + 1;
      await client.query(
        `insert into engine_letters (pipeline_id, node_id, sequence, stored_at, reason, record_id, line, bytes, replays, is_replaying)
         select $1, $2, $3::bigint + n.index - 1, n.at, n.reason, n.record_id, n.line, n.bytes, 0, false
         from unnest($4::bigint[], $5::text[], $6::text[], $7::bytea[], $8::int[])
           with ordinality as n (at, reason, record_id, line, bytes, index)`,
        [
          ...this.#key,
          first,
          letters.map(({ at = now }) => at),
          letters.map(({ reason }) => reason),
          letters.map(({ recordId }) => recordId),
          lines,
          sizes,
        ],
      );
    });
  }

  async dropOldest(): Promise<number> {
    const { maxBytes, maxCount } = this.#bounds;
    const { count, bytes } = await this.stats();
    if (count <= maxCount && bytes <= maxBytes) return 0;
    return this.#delete(
      `sequence in (select sequence from (select sequence, row_number() over newest as kept, sum(bytes) over newest as size
         from engine_letters where pipeline_id = $1 and node_id = $2 window newest as (order by sequence desc)) as each
         where kept > 1 and (kept > $3 or size > $4))`,
      [maxCount, maxBytes],
    );
  }

  list(after: number, limit: number): Promise<StoredLetter[]> {
    return this.#read('sequence > $3', [after], limit);
  }

  replaying(limit: number): Promise<StoredLetter[]> {
    return this.#read('is_replaying', [], limit);
  }

  delete(sequences: readonly number[]): Promise<number> {
    return this.#delete('sequence = any ($3)', [sequences]);
  }

  async replay(sequences?: readonly number[]): Promise<number> {
    const { rowCount } = await this.#pool.query(
      `update engine_letters set is_replaying = true where pipeline_id = $1 and node_id = $2 and not is_replaying
         and ($3::bigint[] is null or sequence = any ($3))`,
      [...this.#key, sequences ?? null],
    );
    return rowCount ?? 0;
  }

  async returnReplayed(reasons: ReadonlyMap<number, string>): Promise<void> {
    await this.#pool.query(
      `update engine_letters l set is_replaying = false, replays = l.replays + 1, reason = n.reason
       from unnest($3::bigint[], $4::text[]) as n (sequence, reason)
       where l.pipeline_id = $1 and l.node_id = $2 and l.sequence = n.sequence and l.is_replaying`,
      [...this.#key, [...reasons.keys()], [...reasons.values()]],
    );
  }

  purge(): Promise<number> {
    return this.#delete('true', []);
  }

  async #read(condition: string, values: readonly unknown[], limit: number): Promise<StoredLetter[]> {
    const { rows } = await this.#pool.query<LetterRow>(
      `select sequence, stored_at, reason, record_id, line, replays, is_replaying from engine_letters
       where pipeline_id = $1 and node_id = $2 and ${condition} order by sequence
       limit ${Number.isFinite(limit) ? Math.max(0, Math.floor(limit)) : 'all'}`,
      [...this.#key, ...values],
    );
    return rows.map((row) => ({
      id: `${this.nodeId}.${row.sequence}`,
      nodeId: this.nodeId,
      at: Number(row.stored_at),
      reason: row.reason,
      recordId: row.record_id,
      line: row.line.toString('utf8'),
      replays: row.replays,
      isReplaying: row.is_replaying,
    }));
  }

  #delete(condition: string, values: readonly unknown[]): Promise<number> {
    return transactionOn(this.#pool, async (client: PoolClient) => {
      // In the order of `add`: first the counts, then the letters.
      await client.query(
        'select from engine_letter_counts where pipeline_id = $1 and node_id = $2 for update',
        this.#key,
      );
      const { rows } = await client.query<{ count: number }>(
        `with deleted as (
           delete from engine_letters where pipeline_id = $1 and node_id = $2 and ${condition} returning bytes
         ), sum as (select count(*) as count, coalesce(sum(bytes), 0) as bytes from deleted)
         update engine_letter_counts c set count = c.count - sum.count, bytes = c.bytes - sum.bytes
         from sum where c.pipeline_id = $1 and c.node_id = $2 returning sum.count::int as count`,
        [...this.#key, ...values],
      );
      return rows[0]?.count ?? 0;
    });
  }
}
