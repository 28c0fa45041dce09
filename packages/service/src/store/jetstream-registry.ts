import {
  FencedError,
  type ConsumerOptions,
  type ConsumerPosition,
  type DataRecord,
  type RegisteredStream,
  type StreamRegistry,
} from '@connector-frame/engine';
import { eq, inArray, sql } from 'drizzle-orm';
import { batchRequests } from './batch-requests.js';
import type { Queries } from './database.js';
import { isLeaseHeld, LEASE_KEY, tokenOf } from './engine-leases.js';
import type { Fence } from './engine-state.js';
import { engineState, jetstreamPositions as positions, jetstreamStreams as streams } from './tables.js';

interface Declaration {
  name: string;
  shard: number;
  consumers: readonly ConsumerOptions[];
}

interface Saved {
  stream: string;
  consumer: string;
  position: ConsumerPosition;
}

/**
 * Creates the registry of the bus in JetStream. Batches concurrent requests of many streams into one
 * statement.
 * @param fence makes writes reject with `FencedError` once another process has the engine's lease
 */
export function createJetStreamRegistry(queries: Queries, fence: Fence): StreamRegistry {
  const isHeld = isLeaseHeld(fence.token);

  /** Finds out why a statement has written fewer rows than it was given. */
  async function requireLease(): Promise<void> {
    const [row] = await queries
      .select({ token: sql<number>`${tokenOf(engineState.value)}::double precision` })
      .from(engineState)
      .where(eq(engineState.key, LEASE_KEY));
    if (row?.token === fence.token) return;
    fence.onLost();
    throw new FencedError('Another process has acquired the engine lease.');
  }

  async function readAll(names: readonly string[]): Promise<Map<string, RegisteredStream>> {
    const rows = await queries
      .select()
      .from(streams)
      .where(inArray(streams.name, [...names]));
    const found = await queries
      .select()
      .from(positions)
      .where(inArray(positions.stream, [...names]));
    const known = new Map(found.map(({ stream, consumer, position }) => [`${stream}/${consumer}`, position]));
    return new Map(
      rows.map(({ name, shard, consumers, lost }) => [
        name,
        {
          shard,
          ...(lost && { lost }),
          consumers: consumers.map((each) => {
            const position = known.get(`${name}/${each.name}`);
            return { ...each, ...(position && { position }) };
          }),
        },
      ]),
    );
  }

  const read = batchRequests<string, RegisteredStream | undefined>(async (group) => {
    const found = await readAll([...new Set(group.map(({ item }) => item))]);
    for (const { item, resolve } of group) resolve(found.get(item));
  });

  const declare = batchRequests<Declaration, RegisteredStream>(async (group) => {
    // Of two declarations of one stream, the later one is valid.
    const latest = [...new Map(group.map(({ item }) => [item.name, item])).values()];
    const rows = latest.map(
      ({ name, shard, consumers }) => sql`(${name}, ${shard}::integer, ${JSON.stringify(consumers)}::jsonb)`,
    );
    const written = await queries
      .insert(streams)
      .select(
        sql`select name, shard, consumers, null::jsonb as lost from (values ${sql.join(rows, sql`, `)}) as incoming (name, shard, consumers) where ${isHeld}`,
      )
      .onConflictDoUpdate({ target: streams.name, set: { consumers: sql`excluded.consumers` } })
      .returning({ name: streams.name });
    if (written.length < latest.length) await requireLease();
    const names = latest.map(({ name }) => name);
    await queries.delete(positions).where(
      sql`${inArray(positions.stream, names)} and not exists (
        select from ${streams}, jsonb_array_elements(${streams.consumers}) as each
        where ${streams.name} = ${positions.stream} and each ->> 'name' = ${positions.consumer})`,
    );
    const found = await readAll(names);
    for (const { item, resolve } of group) {
      const stream = found.get(item.name);
      resolve(stream ?? { shard: item.shard, consumers: item.consumers });
    }
  });

  const save = batchRequests<Saved, void>(async (group) => {
    const latest = new Map<string, Saved>();
    for (const { item } of group) {
      const key = `${item.stream}/${item.consumer}`;
      if ((latest.get(key)?.position.number ?? -1) < item.position.number) latest.set(key, item);
    }
    const rows = [...latest.values()].map(
      ({ stream, consumer, position }) =>
        sql`(${stream}, ${consumer}, ${position.number}::bigint, ${JSON.stringify(position)}::jsonb)`,
    );
    const written = await queries
      .insert(positions)
      .select(
        sql`select stream, consumer, number, position from (values ${sql.join(rows, sql`, `)}) as incoming (stream, consumer, number, position) where exists (select from ${streams} where ${streams.name} = incoming.stream) and ${isHeld}`,
      )
      .onConflictDoUpdate({
        target: [positions.stream, positions.consumer],
        set: { number: sql`excluded.number`, position: sql`excluded.position` },
        setWhere: sql`${positions.number} < excluded.number`,
      })
      .returning({ stream: positions.stream });
    if (written.length < latest.size) await requireLease();
    for (const { resolve } of group) resolve();
  });

  return {
    declare: (name, shard, consumers) => declare({ name, shard, consumers }),
    read,
    savePosition: (stream, consumer, position) => save({ stream, consumer, position }),

    async saveLost(stream: string, lost: DataRecord) {
      await queries
        .update(streams)
        .set({ lost })
        .where(sql`${eq(streams.name, stream)} and ${isHeld}`);
    },

    async remove(name) {
      const rows = await queries
        .delete(streams)
        .where(sql`${eq(streams.name, name)} and ${isHeld}`)
        .returning({ name: streams.name });
      if (rows.length === 0) await requireLease();
    },

    async list() {
      const rows = await queries.select({ name: streams.name }).from(streams).orderBy(streams.name);
      return rows.map(({ name }) => name);
    },
  };
}
