import type { JsonValue } from '../connector-api/record.js';

/** A time-limited, exclusive right of one worker to run something. */
export interface Lease {
  readonly key: string;
  readonly holder: string;
  /**
   * Fencing token: increases each time the lease is acquired. Writes with an older token are
   * rejected.
   */
  readonly token: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Cursor {
  /** Absent until the first commit. */
  readonly value?: JsonValue;
  /** Increases with each commit. */
  readonly version: number;
}

/**
 * `fenced`: the lease is no longer held. `conflict`: another commit happened since `version` was
 * read.
 */
export type Committed = { ok: true; version: number } | { ok: false; reason: 'fenced' | 'conflict' };

/** Desired state of a pipeline. */
export interface Desired {
  readonly enabled: boolean;
  /** Increases with each change. */
  readonly revision: number;
}

/** Observed state that a worker last reported. */
export interface Report {
  /** Milliseconds since the epoch: the heartbeat. */
  readonly at: number;
  readonly holder: string;
  readonly value: JsonValue;
}

/**
 * Shared state of all workers: leases, cursors, desired and observed state. Several processes may
 * share one; each call is atomic. Keys have at most 200 characters: letters, digits and `._-:/`.
 */
export interface Coordinator {
  /**
   * Acquires the lease if it is free, has expired, or is held by the same `holder`: a restarted
   * worker continues immediately, and its previous instance is fenced. Returns `undefined` while
   * another holder has it.
   * @param ttlMs milliseconds until the lease expires
   */
  acquire(key: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Extends the lease to `ttlMs` milliseconds from now. Returns `undefined` if it was lost. */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>;
  /** Releases the lease so that it can be acquired immediately. Does nothing if it was lost. */
  release(lease: Lease): Promise<void>;
  /** Returns the current lease. */
  holder(key: string): Promise<Lease | undefined>;

  /**
   * Opens a cursor for the holder of a lease and fences all earlier holders from committing to it.
   * Returns `undefined` if the lease itself is fenced.
   */
  openCursor(lease: Lease, key: string): Promise<Cursor | undefined>;
  /** Commits a new cursor value if its version is unchanged and the lease is still held. */
  commitCursor(lease: Lease, key: string, version: number, value: JsonValue): Promise<Committed>;

  desired(key: string): Promise<Desired | undefined>;
  setDesired(key: string, enabled: boolean): Promise<Desired>;

  /**
   * Stores a report of the observed state. Returns `false` without writing if the lease was lost.
   */
  report(lease: Lease, key: string, value: JsonValue): Promise<boolean>;
  /** Returns the latest report of any holder. */
  reported(key: string): Promise<Report | undefined>;

  /**
   * Deletes the lease, cursors, desired state and reports whose key is `key` or begins with `key/`.
   */
  forget(key: string): Promise<void>;
}
