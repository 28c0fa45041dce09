import { createEmbeddedCoordinator, readPipelineState, type Clock } from '@connector-frame/engine';
import type { EngineLeases, HeldLease } from '../../store/engine-leases.js';
import type { EngineState } from '../../store/engine-state.js';
import { noEngine, type PipelineEngine } from '../engine.js';
import { LEASE_TTL } from './engine-lease.js';

export interface ReportedEngineOptions {
  state: EngineState;
  leases: EngineLeases;
  clock: Clock;
  /** Forwards the notification that a pipeline has changed. */
  notify: (pipelineId: string) => void;
  /** Forwards the notification that alert rules have changed. */
  notifyRules: () => void;
}

/**
 * Creates the engine of a process that does not run pipelines. It reads their state from the
 * reports in the database and does not accept records. Logs and metrics are available only in the
 * process that runs the engine.
 */
export function createReportedEngine({
  state,
  leases,
  clock,
  notify,
  notifyRules,
}: ReportedEngineOptions): PipelineEngine {
  const coordinator = createEmbeddedCoordinator({ store: state, now: () => clock.now() });
  let reading: Promise<HeldLease | undefined> | undefined;
  /** Reads the lease once for all requests that wait for it. */
  const currentLease = (): Promise<HeldLease | undefined> =>
    (reading ??= leases.current().finally(() => (reading = undefined)));
  return {
    ...noEngine,
    changed: notify,
    rulesChanged: notifyRules,
    async status(pipeline) {
      const [engine, report] = await Promise.all([currentLease(), coordinator.reported(pipeline.id)]);
      const now = clock.now();
      const isHeld = report !== undefined && engine?.holder === report.holder;
      // The engine writes a report only on change; the renewals of its lease are its heartbeat. The
      // time of a report is on another clock, so only the age of the renewal counts.
      const renewedAt = isHeld ? now - (LEASE_TTL - engine.remainingMs) : undefined;
      const expiresAt = now + (engine?.remainingMs ?? 0);
      const source = {
        desired: () => Promise.resolve(undefined),
        holder: () => Promise.resolve(isHeld ? { key: '', holder: engine.holder, token: 0, expiresAt } : undefined),
        reported: () => Promise.resolve(report && { ...report, at: renewedAt ?? report.at }),
      };
      return readPipelineState(source, pipeline, now, undefined, pipeline.enabled);
    },
  };
}
