import { createHash } from 'node:crypto';
import { ConnectorError, type KeyValueEntry } from '@connector-frame/engine/connector-api';
import { and, asc, eq, gt, inArray, isNull, lte, or, sql, type InferSelectModel, type SQL } from 'drizzle-orm';
import type { Database, Queries } from './database.js';
import { isLeaseHeld, type EngineRight } from './engine-leases.js';
import { connectors, keyValueEntries as entries, keyValueTables as tables, removedKeyValueTables } from './tables.js';

/** Maximum size of one table. */
export interface KeyValueLimits {
  /** Of its keys and values, in bytes of UTF-8. */
  maxBytes: number;
  maxKeys: number;
}

/** Default of the service. */
export const DEFAULT_KEY_VALUE_LIMITS: KeyValueLimits = { maxBytes: 256 * 1024 * 1024, maxKeys: 1_000_000 };

/** An entry as clients see it. Its key is not stored. */
export interface StoredValue {
  /** JSON. */
  value: string;
  updatedAt: Date;
}

/** The entries that KV lookup outputs have written. Expired ones are as if they were deleted. */
export interface KeyValues {
  /** Returns the size of the table of an output, which has none before the first write. */
  size(
    organizationId: string,
    connectorId: string,
    now: Date,
  ): Promise<{ keys: number; bytes: number; writtenAt: Date | null }>;
  /** Returns up to `limit` entries, in an order that says nothing about their keys. */
  sample(organizationId: string, connectorId: string, limit: number, now: Date): Promise<StoredValue[]>;
  /** Returns the entries of those of these keys that exist. */
  get(
    organizationId: string,
    connectorId: string,
    keys: readonly string[],
    now: Date,
  ): Promise<Map<string, StoredValue>>;
  /**
   * Deletes some of the entries that have expired, or whose output was deleted. Returns whether more
   * may be left. Call it in a transaction.
   */
  sweep(now: Date): Promise<boolean>;
}

/** Entries per statement of a deletion. */
const CHUNK = 5_000;
/** Milliseconds until a write to a full table is tried again. */
const RETRY_MS = 30_000;

/** Selects the entries of an output that have not expired. */
const living = (organizationId: string, connectorId: string, now: Date) =>
  and(
    eq(entries.connectorId, connectorId),
    or(isNull(entries.expiresAt), gt(entries.expiresAt, now)),
    // Entries of a deleted output may be left.
    sql`exists (select from ${tables} where ${tables.connectorId} = ${connectorId} and ${tables.organizationId} = ${organizationId})`,
  );

export function createKeyValues(queries: Queries): KeyValues {
  return {
    async size(organizationId, connectorId, now) {
      const [table] = await queries
        .select()
        .from(tables)
        .where(and(eq(tables.connectorId, connectorId), eq(tables.organizationId, organizationId)));
      if (!table) return { keys: 0, bytes: 0, writtenAt: null };
      const [expired] = await queries
        .select({
          keys: sql<number>`count(*)::double precision`,
          bytes: sql<number>`coalesce(sum(${entries.bytes}), 0)::double precision`,
        })
        .from(entries)
        .where(hasExpired(connectorId, now));
      const { keys, bytes, writtenAt } = table;
      return { keys: keys - (expired?.keys ?? 0), bytes: bytes - (expired?.bytes ?? 0), writtenAt };
    },

    sample: (organizationId, connectorId, limit, now) =>
      queries
        .select({ value: entries.value, updatedAt: entries.updatedAt })
        .from(entries)
        .where(living(organizationId, connectorId, now))
        .orderBy(asc(entries.digest))
        .limit(limit),

    async get(organizationId, connectorId, keys, now) {
      const found = new Map<string, StoredValue>();
      if (keys.length === 0) return found;
      const byDigest = new Map(keys.map((key) => [digestOf(key), key]));
      const rows = await queries
        .select({ digest: hexDigest, value: entries.value, updatedAt: entries.updatedAt })
        .from(entries)
        .where(and(living(organizationId, connectorId, now), isOneOf([...byDigest.keys()])));
      for (const { digest, value, updatedAt } of rows) {
        const key = byDigest.get(digest);
        if (key !== undefined) found.set(key, { value, updatedAt });
      }
      return found;
    },

    async sweep(now) {
      const [removed] = await queries.select().from(removedKeyValueTables).limit(1);
      if (removed) {
        const { connectorId } = removed;
        if ((await removeSome(queries, eq(entries.connectorId, connectorId))).keys < CHUNK)
          await queries.delete(removedKeyValueTables).where(eq(removedKeyValueTables.connectorId, connectorId));
        return true;
      }
      const [table] = await queries
        .select()
        .from(tables)
        .where(sql`exists (select from ${entries} where ${hasExpired(tables.connectorId, now)})`)
        .limit(1)
        .for('update');
      if (!table) return false;
      await removeExpired(queries, table, now);
      return true;
    },
  };
}

/** Returns the SHA-256 of a key, in hexadecimal. */
const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const hexDigest = sql<string>`encode(${entries.digest}, 'hex')`;

/** Selects entries by digest. One parameter for all: a list of them takes several times as long. */
const isOneOf = (digests: readonly string[]): SQL =>
  sql`${entries.digest} = any (array(select decode(hex, 'hex') from unnest(string_to_array(${digests.join()}, ',')) as hex))`;

const hasExpired = (connectorId: string | typeof tables.connectorId, now: Date) =>
  and(eq(entries.connectorId, connectorId), lte(entries.expiresAt, now));

/** Deletes up to `CHUNK` entries. Returns how many there were, and their bytes. */
async function removeSome(queries: Queries, chosen: SQL | undefined): Promise<{ keys: number; bytes: number }> {
  const some = queries.select({ digest: entries.digest }).from(entries).where(chosen).limit(CHUNK);
  const rows = await queries
    .delete(entries)
    .where(and(chosen, inArray(entries.digest, some)))
    .returning({ bytes: entries.bytes });
  return { keys: rows.length, bytes: rows.reduce((sum, row) => sum + row.bytes, 0) };
}

/** Counts of a table. */
type Counts = Pick<InferSelectModel<typeof tables>, 'connectorId' | 'keys' | 'bytes'>;

/** Deletes up to `CHUNK` expired entries of a table that is locked. Returns the new counts. */
async function removeExpired(queries: Queries, { connectorId, keys, bytes }: Counts, now: Date): Promise<Counts> {
  const removed = await removeSome(queries, hasExpired(connectorId, now));
  const after = { keys: keys - removed.keys, bytes: bytes - removed.bytes };
  if (removed.keys > 0) await queries.update(tables).set(after).where(eq(tables.connectorId, connectorId));
  return { connectorId, ...after };
}

/** Writes entries in the process that runs the pipelines. */
export interface KeyValueWriter {
  /**
   * Writes entries, all or none. Of several with the same key, the last one counts.
   * @param ttlMs milliseconds until they expire. Absent: never
   * @throws ConnectorError `table_full`, throttled; `not_running` if the lease was lost
   */
  put(connectorId: string, given: readonly KeyValueEntry[], now: Date, ttlMs?: number): Promise<void>;
}

/** @param right what entitles this process to write */
export function createKeyValueWriter(database: Database, right: EngineRight, limits: KeyValueLimits): KeyValueWriter {
  const fits = ({ keys, bytes }: Pick<Counts, 'keys' | 'bytes'>): boolean =>
    keys <= limits.maxKeys && bytes <= limits.maxBytes;
  return {
    put: (connectorId, given, now, ttlMs) =>
      database.transaction(async (queries) => {
        const locked = await lockTable(queries, connectorId, right);
        const rows = rowsOf(given);
        let size = sizeWith(locked, rows, await bytesOf(queries, connectorId, rows));
        // A write that makes nothing larger passes, also if the limits are lower than they were.
        const grows = size.keys > locked.keys || size.bytes > locked.bytes;
        if (grows && !fits(size)) {
          const freed = await removeExpired(queries, locked, now);
          size = sizeWith(freed, rows, await bytesOf(queries, connectorId, rows));
          if (!fits(size)) throw tableFull(limits);
        }
        await upsert(queries, connectorId, rows, now, ttlMs);
        await queries
          .update(tables)
          .set({ ...size, writtenAt: now })
          .where(eq(tables.connectorId, connectorId));
      }),
  };
}

/** Returns the size that a table has after a write. */
function sizeWith(
  { keys, bytes }: Counts,
  rows: readonly NewRow[],
  before: ReadonlyMap<string, number>,
): Pick<Counts, 'keys' | 'bytes'> {
  const size = { keys, bytes };
  for (const row of rows) {
    const replaced = before.get(row.digest);
    if (replaced === undefined) size.keys += 1;
    size.bytes += row.bytes - (replaced ?? 0);
  }
  return size;
}

interface NewRow {
  /** In hexadecimal. */
  digest: string;
  value: string;
  bytes: number;
}

/** Returns a row for each key. */
function rowsOf(given: readonly KeyValueEntry[]): NewRow[] {
  const last = new Map(given.map(({ key, value }) => [key, value]));
  return Array.from(last, ([key, value]) => ({
    digest: digestOf(key),
    value,
    bytes: Buffer.byteLength(key) + Buffer.byteLength(value),
  }));
}

/** Locks the counts of a table, which are created with the first write. */
async function lockTable(queries: Queries, connectorId: string, right: EngineRight): Promise<Counts> {
  const ofOutput = and(eq(connectors.id, connectorId), eq(connectors.kind, 'output'));
  await queries
    .insert(tables)
    .select(
      queries
        .select({
          connectorId: connectors.id,
          organizationId: connectors.organizationId,
          keys: sql<number>`0`.as('keys'),
          bytes: sql<number>`0`.as('bytes'),
          writtenAt: sql<Date | null>`null::timestamptz`.as('written_at'),
        })
        .from(connectors)
        .where(ofOutput),
    )
    .onConflictDoNothing();
  const [locked] = await queries
    .select()
    .from(tables)
    .where(and(eq(tables.connectorId, connectorId), isLeaseHeld(right)))
    .for('update');
  if (!locked) throw new ConnectorError('not_running', 'Another process runs the pipelines now.', 'retry');
  return locked;
}

/** Returns the bytes of the entries that rows replace, by digest in hexadecimal. */
async function bytesOf(queries: Queries, connectorId: string, rows: readonly NewRow[]): Promise<Map<string, number>> {
  const digests = rows.map(({ digest }) => digest);
  const found = await queries
    .select({ digest: hexDigest, bytes: entries.bytes })
    .from(entries)
    .where(and(eq(entries.connectorId, connectorId), isOneOf(digests)));
  return new Map(found.map(({ digest, bytes }) => [digest, bytes]));
}

async function upsert(
  queries: Queries,
  connectorId: string,
  rows: readonly NewRow[],
  now: Date,
  ttlMs: number | undefined,
): Promise<void> {
  const expiresAt = ttlMs === undefined ? null : new Date(now.getTime() + ttlMs).toISOString();
  // One parameter for all rows: a statement has at most 65,535.
  const incoming = JSON.stringify(rows.map(({ digest, value, bytes }) => ({ d: digest, v: value, b: bytes })));
  await queries
    .insert(entries)
    .select(
      sql`select ${connectorId}, decode(row.d, 'hex'), row.v, row.b, ${now.toISOString()}::timestamptz, ${expiresAt}::timestamptz
        from json_to_recordset(${incoming}::json) as row (d text, v text, b integer)`,
    )
    .onConflictDoUpdate({
      target: [entries.connectorId, entries.digest],
      set: {
        value: sql`excluded.value`,
        bytes: sql`excluded.bytes`,
        updatedAt: sql`excluded.updated_at`,
        expiresAt: sql`excluded.expires_at`,
      },
    });
}

function tableFull({ maxBytes, maxKeys }: KeyValueLimits): ConnectorError {
  const message = `The key-value table is full: at most ${maxBytes} bytes and ${maxKeys} keys. Let keys expire, keep one field instead of the record, or ask the operator for more space (KV_MAX_BYTES, KV_MAX_KEYS).`;
  return new ConnectorError('table_full', message, 'throttled', RETRY_MS);
}
