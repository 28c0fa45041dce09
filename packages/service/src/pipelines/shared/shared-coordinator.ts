import {
  createEmbeddedCoordinator,
  type Clock,
  type Coordinator,
  type JsonValue,
  type Lease,
  type Store,
  type Stored,
} from '@connector-frame/engine';
import { batchRequests } from '../../store/batch-requests.js';
import { MEMBER_TTL, type EngineMembers, type PipelineHolder } from '../../store/engine-members.js';
import type { EngineState } from '../../store/engine-state.js';
import type { Assignments } from './assignments.js';

export interface SharedCoordinatorOptions {
  memberId: string;
  assignments: Pick<Assignments, 'tokenOf' | 'mayBegin' | 'release'>;
  members: Pick<EngineMembers, 'holders' | 'forget'>;
  durable: EngineState;
  clock: Clock;
}

/** Coordinator of a process that shares pipelines with others. */
export interface SharedCoordinator extends Coordinator {
  /** Writes the reports that have changed since the last call. */
  flush(): Promise<void>;
  /** Returns the reports that were written since the last call, by pipeline id. */
  takeReports(): Map<string, JsonValue>;
}

/** Milliseconds until a lease expires for the runner: `Assignments` decides earlier. */
const LEASE_MS = 86_400_000;
/** Pipelines per statement. */
const MAX_IDS = 500;

/**
 * Creates the coordinator of a shared engine. `Assignments` acquires and renews the leases of all
 * pipelines together. Cursors are in the database once they are committed; an earlier holder can't
 * commit one after the next holder has opened it. Reports are written later, and never replace reports of a
 * later holder. The desired state is `enabled` of the pipeline's row, and stays in memory.
 */
export function createSharedCoordinator(options: SharedCoordinatorOptions): SharedCoordinator {
  const { memberId, assignments, members, durable, clock } = options;
  const desired = new Map<string, Stored>();
  const reports = new Map<string, JsonValue>();
  const written = new Map<string, JsonValue>();
  let flushing: Promise<void> = Promise.resolve();

  const holderOf = batchRequests<string, PipelineHolder | undefined>(async (group) => {
    const holders = await members.holders([...new Set(group.map(({ item }) => item))]);
    for (const { item, resolve } of group) resolve(holders.get(item));
  }, MAX_IDS);

  async function leaseRow(key: string): Promise<Stored | undefined> {
    const pipelineId = idIn(key);
    const token = assignments.tokenOf(pipelineId);
    if (token !== undefined)
      return { version: 1, value: { holder: memberId, token, expires_at: clock.now() + LEASE_MS } };
    const held = await holderOf(pipelineId);
    // What this process has lost, it does not hold until it knows that again.
    if (!held || held.memberId === memberId) return undefined;
    return {
      version: 1,
      value: { holder: held.memberId, token: held.token, expires_at: clock.now() + held.remainingMs },
    };
  }

  const store: Store = {
    get(key) {
      if (key.startsWith('lease:')) return leaseRow(key);
      if (key.startsWith('desired:')) return Promise.resolve(desired.get(key));
      const report = key.startsWith('report:') ? reports.get(key) : undefined;
      return report === undefined ? durable.get(key) : Promise.resolve({ version: 1, value: report });
    },
    compareAndSet(key: string, version: number, value: JsonValue) {
      if (key.startsWith('cursor:')) return durable.compareAndSet(key, version, value);
      if (key.startsWith('report:')) reports.set(key, value);
      else desired.set(key, { version: version + 1, value });
      return Promise.resolve(version + 1);
    },
    async removeAll(prefix) {
      desired.delete(prefix);
      reports.delete(prefix);
      if (prefix.startsWith('lease:')) await members.forget(idIn(prefix));
      if (prefix.startsWith('cursor:') || prefix.startsWith('report:')) await durable.removeAll(prefix);
    },
  };

  async function write(): Promise<void> {
    const values = new Map(reports);
    if (values.size === 0) return;
    await durable.put(values);
    for (const [key, value] of values) {
      written.set(key, value);
      // The next read queries the database, which has the reports of other processes.
      if (reports.get(key) === value) reports.delete(key);
    }
  }

  /** Writes what has changed up to now. */
  function flush(): Promise<void> {
    const done = flushing.then(write);
    flushing = done.catch(() => undefined);
    return done;
  }

  const embedded = createEmbeddedCoordinator({ store, now: () => clock.now() });
  const leaseOf = (key: string, token: number): Lease => ({
    key,
    holder: memberId,
    token,
    expiresAt: clock.now() + LEASE_MS,
  });
  return {
    acquire(key) {
      const token = assignments.mayBegin(key) ? assignments.tokenOf(key) : undefined;
      return Promise.resolve(token === undefined ? undefined : leaseOf(key, token));
    },
    renew(lease) {
      const isHeld = assignments.tokenOf(lease.key) === lease.token;
      return Promise.resolve(isHeld ? leaseOf(lease.key, lease.token) : undefined);
    },
    async release({ key, token }) {
      if (assignments.tokenOf(key) !== token) return;
      // The next holder continues with the last counts.
      await flush();
      await assignments.release(key);
    },
    holder: (key) => embedded.holder(key),
    openCursor: (lease, key) => embedded.openCursor(lease, key),
    commitCursor: (lease, key, version, value) => embedded.commitCursor(lease, key, version, value),
    desired: (key) => embedded.desired(key),
    setDesired: (key, enabled) => embedded.setDesired(key, enabled),
    report: (lease, key, value) => embedded.report(lease, key, value),
    async reported(key) {
      const report = await embedded.reported(key);
      const held = report && report.holder !== memberId ? await holderOf(key) : undefined;
      if (!report || held?.memberId !== report.holder) return report;
      // A report is written only on change; the renewals of the member are its heartbeat.
      return { ...report, at: clock.now() - Math.max(0, MEMBER_TTL - held.remainingMs) };
    },
    forget: (key) => embedded.forget(key),
    flush,
    takeReports() {
      const taken = new Map([...written].map(([key, value]) => [key.slice('report:'.length, -1), value]));
      written.clear();
      return taken;
    },
  };
}

/** Returns the id in a key of the store: `lease:<id>/`. */
const idIn = (key: string): string => key.slice(key.indexOf(':') + 1, -1);
