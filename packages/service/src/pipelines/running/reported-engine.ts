import { createEmbeddedCoordinator, readPipelineState, type Clock } from '@connector-frame/engine';
import type { EngineState } from '../../store/engine-state.js';
import { noEngine, type PipelineEngine } from '../engine.js';
import { ENGINE, LEASE_TTL } from './engine-lease.js';

/**
 * Creates the engine of a process that does not run pipelines. It reads their state from the
 * reports in the database and does not accept records. Logs and metrics are available only in the
 * process that runs the engine.
 * @param notify forwards the notification that a pipeline has changed
 */
export function createReportedEngine(
  state: EngineState,
  clock: Clock,
  notify: (pipelineId: string) => void,
): PipelineEngine {
  const coordinator = createEmbeddedCoordinator({ store: state, now: () => clock.now() });
  return {
    ...noEngine,
    changed: notify,
    async status(pipeline) {
      const [engine, report] = await Promise.all([coordinator.holder(ENGINE), coordinator.reported(pipeline.id)]);
      // The engine writes a report only on change; the renewals of its lease are its heartbeat.
      const renewedAt = engine && engine.expiresAt - LEASE_TTL;
      const held = report && engine?.holder === report.holder ? engine : undefined;
      const source = {
        desired: () => Promise.resolve(undefined),
        holder: () => Promise.resolve(held),
        reported: () => Promise.resolve(report && { ...report, at: Math.max(report.at, renewedAt ?? 0) }),
      };
      return readPipelineState(source, pipeline, clock.now(), undefined, pipeline.enabled);
    },
  };
}
