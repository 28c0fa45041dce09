import type { Coordinator } from '../coordinator/coordinator.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { observationIn, stateOf, type Observation, type PipelineState } from '../pipeline/pipeline-state.js';

/**
 * Returns the state of a pipeline from any process that shares the coordinator: from the desired
 * state, the lease, and the last report. A worker passes `live` to use its current observation for
 * its own pipeline.
 * @param now milliseconds since the epoch
 * @param enabled desired state if the caller knows it; default: read from the coordinator
 */
export async function readPipelineState(
  coordinator: Pick<Coordinator, 'desired' | 'holder' | 'reported'>,
  definition: PipelineDefinition,
  now: number,
  live?: { token: number; observe(): Promise<Observation> },
  enabled?: boolean,
): Promise<PipelineState> {
  const [desired, held, reported] = await Promise.all([
    coordinator.desired(definition.id),
    coordinator.holder(definition.id),
    coordinator.reported(definition.id),
  ]);
  const mine = live !== undefined && held?.token === live.token;
  const heartbeatAt = mine ? now : reported?.at;
  const observation = mine ? await live.observe() : observationIn(reported?.value ?? null);
  const known = {
    // A new pipeline is enabled by default.
    enabled: enabled ?? desired?.enabled ?? true,
    held: held !== undefined,
    ...(heartbeatAt !== undefined && { heartbeatAt }),
    ...(observation && { observation }),
  };
  return stateOf(definition, known, now);
}
