import { createEmbeddedCoordinator, readPipelineState, type Clock } from '@connector-frame/engine';
import type { EngineState } from '../../store/engine-state.js';
import { noEngine, type PipelineEngine } from '../engine.js';
import { ENGINE, LEASE_TTL } from './engine-lease.js';

/**
 * The engine as a process sees it that does not run it: its reports in the database tell how pipelines do. Records are not
 * taken in here; log and figures are with the engine.
 * @param tell passes on that a pipeline has changed
 */
export function createReportedEngine(
  state: EngineState,
  clock: Clock,
  tell: (pipelineId: string) => void,
): PipelineEngine {
  const coordinator = createEmbeddedCoordinator({ store: state, now: () => clock.now() });
  return {
    ...noEngine,
    changed: tell,
    async status(pipeline) {
      const [engine, report] = await Promise.all([coordinator.holder(ENGINE), coordinator.reported(pipeline.id)]);
      // It reports what has changed, and says with its own lease that it lives.
      const heard = engine && engine.expiresAt - LEASE_TTL;
      const held = report && engine?.holder === report.holder ? engine : undefined;
      const seen = {
        desired: () => Promise.resolve(undefined),
        holder: () => Promise.resolve(held),
        reported: () => Promise.resolve(report && { ...report, at: Math.max(report.at, heard ?? 0) }),
      };
      return readPipelineState(seen, pipeline, clock.now(), undefined, pipeline.enabled);
    },
  };
}
