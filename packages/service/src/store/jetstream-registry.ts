import {
  FencedError,
  type ConsumerOptions,
  type ConsumerPosition,
  type DataRecord,
  type RegisteredStream,
  type StreamRegistry,
} from '@connector-frame/engine';
import { and, eq, inArray, sql, type SQL } from 'drizzle-orm';
import { batchRequests } from './batch-requests.js';
import type { Queries } from './database.js';
import { isLeaseHeld, LEASE_KEY, tokenOf } from './engine-leases.js';
import type { Fence } from './engine-state.js';
import {
  engineLeases as leases,
  engineState,
  jetstreamPositions as positions,
  jetstreamStreams as streams,
} from './tables.js';

interface Declaration {
  name: string;
  shard: number;
  consumers: readonly ConsumerOptions[];
  version: number;
}

interface Saved {
  stream: string;
  consumer: string;
  position: ConsumerPosition;
}

interface Placed {
  stream: string;
  consumer: string;
  start: ConsumerPosition;
}

/** What entitles a process to write. */
interface Guard {
  /** A condition for all writes. */
  right: SQL;
  /** A condition for rows of positions, named `incoming`, with the token that the process has for their streams. */
  mayAdvance: SQL;
  tokenOf(stream: string): number;
  /** Ignores the consumers of an earlier version of a pipeline. */
  isVersioned: boolean;
  /** @throws FencedError if the process may not write anymore */
  requireRight(): Promise<void>;
  /** Returns the streams whose positions this process must not advance. */
  fencedOf(streams: readonly string[]): Promise<ReadonlySet<string>>;
}

/**
 * Creates the registry of the bus in JetStream for a single engine. Batches concurrent requests of
 * many streams into one statement.
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
  return createRegistry(queries, {
    right: isHeld,
    mayAdvance: isHeld,
    tokenOf: () => fence.token,
    isVersioned: false,
    requireRight: requireLease,
    async fencedOf() {
      await requireLease();
      return new Set();
    },
  });
}

export interface SharedRegistryOptions {
  memberId: string;
  /** Returns the fencing token of the lease of a pipeline, `undefined` if this process does not hold it. */
  leaseOf: (pipelineId: string) => number | undefined;
}

/**
 * Creates the registry for processes that share pipelines. Each of them declares streams and publishes;
 * positions are advanced by the one that holds the lease of the pipeline.
 */
export function createSharedJetStreamRegistry(
  queries: Queries,
  { memberId, leaseOf }: SharedRegistryOptions,
): StreamRegistry {
  const right = isLeaseHeld({ memberId });
  const streamToken = (stream: string): number => leaseOf(pipelineOf(stream)) ?? NO_TOKEN;
  return createRegistry(queries, {
    right,
    mayAdvance: sql`exists (select from ${leases} as held where held.pipeline_id = split_part(incoming.stream, '.', 1)
      and held.token = incoming.token and held.member_id = ${memberId} for share of held)`,
    tokenOf: streamToken,
    isVersioned: true,
    async requireRight() {
      const [row] = await queries.select({ held: sql<boolean>`${right}` }).from(sql`(select 1) as one`);
      if (row?.held !== true) throw new FencedError('The membership of the shared engine has expired.');
    },
    async fencedOf(names) {
      const ids = [...new Set(names.map(pipelineOf))];
      const rows = await queries
        .select({ pipelineId: leases.pipelineId, token: leases.token })
        .from(leases)
        .where(and(inArray(leases.pipelineId, ids), eq(leases.memberId, memberId)));
      const held = new Map(rows.map(({ pipelineId, token }) => [pipelineId, token]));
      return new Set(names.filter((name) => held.get(pipelineOf(name)) !== streamToken(name)));
    },
  });
}

const NO_TOKEN = -1;
const pipelineOf = (stream: string): string => stream.slice(0, stream.indexOf('.'));

function createRegistry(queries: Queries, guard: Guard): StreamRegistry {
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
    const latest = latestOf(group.map(({ item }) => item));
    const rows = latest.map(
      ({ name, shard, consumers, version }) =>
        sql`(${name}, ${shard}::integer, ${JSON.stringify(consumers)}::jsonb, ${version}::bigint)`,
    );
    const written = await queries
      .insert(streams)
      .select(
        sql`select name, shard, consumers, null::jsonb as lost, version from (values ${sql.join(rows, sql`, `)}) as incoming (name, shard, consumers, version) where ${guard.right}`,
      )
      .onConflictDoUpdate({
        target: streams.name,
        set: { consumers: sql`excluded.consumers`, version: sql`greatest(${streams.version}, excluded.version)` },
        ...(guard.isVersioned && { setWhere: sql`${streams.version} <= excluded.version` }),
      })
      .returning({ name: streams.name });
    if (written.length < latest.length) await guard.requireRight();
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

  const place = batchRequests<Placed, ConsumerPosition>(async (group) => {
    const rows = group.map(
      ({ item: { stream, consumer, start } }) =>
        sql`(${stream}, ${consumer}, ${start.number}::bigint, ${JSON.stringify(start)}::jsonb)`,
    );
    const written = await queries
      .insert(positions)
      .select(
        sql`select stream, consumer, number, position from (values ${sql.join(rows, sql`, `)}) as incoming (stream, consumer, number, position) where exists (select from ${streams} where ${streams.name} = incoming.stream) and ${guard.right}`,
      )
      .onConflictDoNothing()
      .returning({ stream: positions.stream });
    if (written.length < group.length) await guard.requireRight();
    const found = await readAll([...new Set(group.map(({ item }) => item.stream))]);
    for (const { item, resolve } of group) {
      const stored = found.get(item.stream)?.consumers.find(({ name }) => name === item.consumer);
      resolve(stored?.position ?? item.start);
    }
  });

  /** Resolves with whether the position may be stored. */
  const save = batchRequests<Saved, boolean>(async (group) => {
    const latest = new Map<string, Saved>();
    for (const { item } of group) {
      const key = `${item.stream}/${item.consumer}`;
      if ((latest.get(key)?.position.number ?? -1) < item.position.number) latest.set(key, item);
    }
    const rows = [...latest.values()].map(
      ({ stream, consumer, position }) =>
        sql`(${stream}, ${consumer}, ${position.number}::bigint, ${JSON.stringify(position)}::jsonb, ${guard.tokenOf(stream)}::bigint)`,
    );
    const written = await queries
      .insert(positions)
      .select(
        sql`select stream, consumer, number, position from (values ${sql.join(rows, sql`, `)}) as incoming (stream, consumer, number, position, token) where exists (select from ${streams} where ${streams.name} = incoming.stream) and ${guard.mayAdvance}`,
      )
      .onConflictDoUpdate({
        target: [positions.stream, positions.consumer],
        set: { number: sql`excluded.number`, position: sql`excluded.position` },
        setWhere: sql`${positions.number} < excluded.number`,
      })
      .returning({ stream: positions.stream });
    const names = new Set([...latest.values()].map(({ stream }) => stream));
    const fenced = written.length < latest.size ? await guard.fencedOf([...names]) : undefined;
    for (const { item, resolve } of group) resolve(fenced?.has(item.stream) !== true);
  });

  return {
    declare: (name, shard, consumers, version = 0) => declare({ name, shard, consumers, version }),
    read,
    place: (stream, consumer, start) => place({ stream, consumer, start }),

    async savePosition(stream, consumer, position) {
      if (await save({ stream, consumer, position })) return;
      throw new FencedError(`Another process reads ${stream} now.`);
    },

    async saveLost(stream: string, lost: DataRecord) {
      await queries
        .update(streams)
        .set({ lost })
        .where(sql`${eq(streams.name, stream)} and ${guard.right}`);
    },

    async remove(name) {
      const rows = await queries
        .delete(streams)
        .where(sql`${eq(streams.name, name)} and ${guard.right}`)
        .returning({ name: streams.name });
      if (rows.length === 0) await guard.requireRight();
    },

    async list() {
      const rows = await queries.select({ name: streams.name }).from(streams).orderBy(streams.name);
      return rows.map(({ name }) => name);
    },
  };
}

/** Returns one declaration per stream: that of the latest version, the last one of several. */
function latestOf(given: readonly Declaration[]): Declaration[] {
  const latest = new Map<string, Declaration>();
  for (const each of given) if ((latest.get(each.name)?.version ?? 0) <= each.version) latest.set(each.name, each);
  return [...latest.values()];
}
