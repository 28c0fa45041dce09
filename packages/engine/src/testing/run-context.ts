import type { Clock } from '../connector-api/clock.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { PipelineLog } from '../pipeline/pipeline-log.js';
import type { RunContext } from '../delivery/deliver.js';
import { createPipelineContext } from '../delivery/pipeline-context.js';
import { DEFAULT_LIMITS, type RunnerLimits } from '../delivery/runner-options.js';

/** Creates the context of a run for tests that deliver batches without a runner. */
export function createRunContext(parts: {
  definition: PipelineDefinition;
  clock: Clock;
  /** Folder of the dead letters; it need not exist. */
  folder: string;
  limits?: Partial<RunnerLimits>;
  stopping?: AbortSignal;
  aborted?: AbortSignal;
}): RunContext {
  const { definition, clock, folder, limits } = parts;
  const log = new PipelineLog(() => clock.now());
  const listeners = { onCount: () => undefined, onChange: () => undefined };
  const options = { definition, folder, clock, random: () => 0.5 };
  const shared = createPipelineContext(options, { ...DEFAULT_LIMITS, ...limits }, log, listeners);
  shared.health.reset(definition.nodes.map(({ id }) => id));
  const { signal } = new AbortController();
  return { ...shared, stopping: parts.stopping ?? signal, aborted: parts.aborted ?? signal, gates: new Map() };
}
