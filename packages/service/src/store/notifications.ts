import type { Clock } from '@connector-frame/engine';
import type { Pool, PoolClient } from 'pg';

/** Milliseconds before reconnecting after a lost connection. */
const RETRY_MS = 1_000;
/** Milliseconds between checks that the connection still works. */
const CHECK_MS = 10_000;
/** Milliseconds for which the notifications of a process are collected. */
const COLLECT_MS = 5;

/** Handles a payload. `undefined`: notifications may have been lost, because the connection was. */
export type OnNotification = (payload: string | undefined) => void;

/**
 * Sends and receives notifications of PostgreSQL on one connection. They can be lost: receivers also
 * have to look by themselves from time to time.
 */
export class Notifications {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #handlers = new Map<string, OnNotification>();
  readonly #closing = new AbortController();
  readonly #pending = new Map<string, Set<string>>();
  #sending: Promise<void> | undefined;
  #listening: Promise<void> | undefined;

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** Sets the handler of a channel. Call it before `start`. */
  on(channel: string, handler: OnNotification): void {
    this.#handlers.set(channel, handler);
  }

  /** Starts listening. */
  start(): void {
    this.#listening ??= this.#listen();
  }

  /**
   * Notifies all processes, also this one. Not in the transaction of a write: PostgreSQL lets only one
   * transaction with notifications commit at a time.
   */
  notify(channel: string, payload: string): void {
    const payloads = this.#pending.get(channel) ?? new Set();
    this.#pending.set(channel, payloads.add(payload));
    this.#sending ??= this.#send();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#listening;
    await this.#sending;
  }

  async #send(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, COLLECT_MS));
    const all = [...this.#pending].flatMap(([channel, payloads]) => [...payloads].map((each) => [channel, each]));
    this.#pending.clear();
    this.#sending = undefined;
    const [channels, payloads] = [all.map(([channel]) => channel), all.map(([, payload]) => payload)];
    await this.#pool
      .query('select pg_notify(n.channel, n.payload) from unnest($1::text[], $2::text[]) as n (channel, payload)', [
        channels,
        payloads,
      ])
      .catch(() => undefined);
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const client = await this.#pool.connect();
        try {
          await this.#listenOn(client, signal);
        } finally {
          // Destroys the connection: it must not return to the pool while it listens.
          client.release(true);
        }
      } catch {
        // Receivers look by themselves.
      }
      await this.#clock.sleep(RETRY_MS, signal);
    }
  }

  async #listenOn(client: PoolClient, signal: AbortSignal): Promise<void> {
    const lost = new AbortController();
    client.once('error', () => lost.abort());
    client.once('end', () => lost.abort());
    client.on('notification', ({ channel, payload }) => this.#handlers.get(channel)?.(payload ?? ''));
    for (const channel of this.#handlers.keys()) await client.query(`listen ${channel}`);
    for (const handler of this.#handlers.values()) handler(undefined);
    const over = AbortSignal.any([signal, lost.signal]);
    while (!over.aborted) {
      await this.#clock.sleep(CHECK_MS, over);
      // A network that drops packets closes no connection.
      if (!over.aborted) await client.query('select 1');
    }
  }
}
