import type { ConnectorKind } from '@connector-frame/catalog/types';
import type { Clock } from '../clock.js';
import { isDatabaseUnavailable } from '../store/unavailable.js';
import { databaseAway } from './http-error.js';

/** What the intake needs to know about a connector. */
export interface KnownConnector {
  id: string;
  organizationId: string;
  kind: ConnectorKind;
  type: string;
}

/**
 * Connectors that records are sent to. While the database responds, an entry is at most
 * `FRESH_MS` old. While it is away, entries are used for a longer, limited time.
 */
export interface KnownConnectors<T = KnownConnector> {
  /**
   * Returns the connector, or `undefined` if there is none with this id.
   * @throws HttpError 503 if the database is away and the connector is not known
   */
  get(id: string): Promise<T | undefined>;
}

export interface KnownConnectorsOptions<T> {
  load: (id: string) => Promise<T | undefined>;
  clock: Pick<Clock, 'elapsed'>;
  /** Milliseconds for which an entry is used while the database is away. */
  lifetimeMs: number;
}

/** Milliseconds for which an entry is used without a query. */
const FRESH_MS = 400;
/** Milliseconds to wait for a database that is slow before an older entry is used. */
const PATIENCE_MS = 1_000;
/** Milliseconds between attempts to reach a database that is away. */
const RETRY_MS = 1_000;
/** Connectors that are known at a time. */
export const MAX_ENTRIES = 10_000;

interface Entry<T> {
  /** `undefined`: there is no such connector. */
  connector: T | undefined;
  /** When the query began, so that an entry is never older than it seems. */
  at: number;
}

export function createKnownConnectors<T>({ load, clock, lifetimeMs }: KnownConnectorsOptions<T>): KnownConnectors<T> {
  /** In the order in which they were loaded. */
  const entries = new Map<string, Entry<T>>();
  const loading = new Map<string, Promise<Entry<T>>>();
  /** When the database was last tried; absent while it responds. */
  let awaySince: number | undefined;

  async function query(id: string): Promise<Entry<T>> {
    const at = clock.elapsed();
    if (awaySince !== undefined) awaySince = at;
    try {
      const connector = await load(id);
      awaySince = undefined;
      entries.delete(id);
      entries.set(id, { connector, at });
      const [oldest] = entries.keys();
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
      return { connector, at };
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      awaySince = clock.elapsed();
      throw databaseAway();
    } finally {
      loading.delete(id);
    }
  }

  /** Queries the database, at most once at a time for each connector. */
  function refresh(id: string): Promise<Entry<T>> {
    let pending = loading.get(id);
    if (!pending) {
      if (awaySince !== undefined && clock.elapsed() - awaySince < RETRY_MS) return Promise.reject(databaseAway());
      pending = query(id);
      loading.set(id, pending);
    }
    return pending;
  }

  return {
    async get(id) {
      const known = entries.get(id);
      const age = known ? clock.elapsed() - known.at : Infinity;
      if (known && age < FRESH_MS) return known.connector;
      const refreshed = refresh(id);
      if (!known || age >= lifetimeMs) return (await refreshed).connector;
      if (awaySince !== undefined) {
        refreshed.catch(() => undefined);
        return known.connector;
      }
      return (await orAfterPatience(refreshed, known)).connector;
    },
  };

  /** Falls back to the known entry if the database is away, or does not respond in time. */
  async function orAfterPatience(refreshed: Promise<Entry<T>>, known: Entry<T>): Promise<Entry<T>> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Entry<T>>((resolve) => {
      timer = setTimeout(() => {
        awaySince ??= clock.elapsed();
        resolve(known);
      }, PATIENCE_MS);
    });
    try {
      return await Promise.race([refreshed, late]);
    } catch (error) {
      if (awaySince !== undefined) return known;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
