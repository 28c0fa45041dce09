import type { JsonValue } from '../records/record.js';

/** The right of one worker to run something for a while. */
export interface Lease {
  readonly key: string;
  readonly holder: string;
  /** Rises each time the lease is taken; what an earlier holder still writes is refused by it. */
  readonly token: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Cursor {
  /** Absent: nothing was committed yet. */
  readonly value?: JsonValue;
  /** Rises with each commit. */
  readonly version: number;
}

/** `fenced`: the lease is no longer held. `conflict`: somebody committed since `version` was read. */
export type Committed = { ok: true; version: number } | { ok: false; reason: 'fenced' | 'conflict' };

/** What is wanted of a pipeline. */
export interface Desired {
  readonly enabled: boolean;
  /** Rises with each change. */
  readonly revision: number;
}

/** What a worker has to say about what it runs, and when it said so. */
export interface Report {
  /** Milliseconds since the epoch: the heartbeat. */
  readonly at: number;
  readonly holder: string;
  readonly value: JsonValue;
}

/**
 * Who runs what, how far it has come, what is wanted, and how it goes. Several processes may share one; each call is
 * atomic. Keys are names of at most 200 letters, digits and `. _ - : /`.
 */
export interface Coordinator {
  /**
   * Takes the lease if it is free, has run out, or is held under the same name: a worker that was restarted goes on at
   * once, and what it was before is fenced. `undefined` while somebody else has it.
   */
  acquire(key: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Longer, from now on; `undefined` when it is lost. */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>;
  /** Free for the next one at once. A lost lease is left alone. */
  release(lease: Lease): Promise<void>;
  /** Who holds it now. */
  holder(key: string): Promise<Lease | undefined>;

  /** The cursor, for the holder of a lease. From here on no earlier holder can commit to it. `undefined`: fenced. */
  openCursor(lease: Lease, key: string): Promise<Cursor | undefined>;
  /** Moves the cursor if its version is still the one that was read and the lease is still held. */
  commitCursor(lease: Lease, key: string, version: number, value: JsonValue): Promise<Committed>;

  desired(key: string): Promise<Desired | undefined>;
  setDesired(key: string, enabled: boolean): Promise<Desired>;

  /** Says how it goes; `false` when the lease is lost, and nothing was written. */
  report(lease: Lease, key: string, value: JsonValue): Promise<boolean>;
  /** The last report, whoever made it. */
  reported(key: string): Promise<Report | undefined>;

  /** Forgets lease, cursors, wishes and reports whose key is `key` or begins with `key/`. */
  forget(key: string): Promise<void>;
}
