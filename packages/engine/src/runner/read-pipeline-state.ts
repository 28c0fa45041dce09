import type { Coordinator } from '../coordinator/coordinator.js';
import type { PipelineDefinition } from '../pipeline/definition.js';
import { observationIn, stateOf, type Observation, type PipelineState } from './pipeline-state.js';

/**
 * How a pipeline does, from any process that shares the coordinator: from what is wanted, who holds it, and what its
 * worker reported. A worker that is asked about its own pipeline gives what it sees now.
 * @param now milliseconds since the epoch
 * @param wanted what the caller knows to be wanted; absent: what the coordinator says
 */
export async function readPipelineState(
  coordinator: Pick<Coordinator, 'desired' | 'holder' | 'reported'>,
  definition: PipelineDefinition,
  now: number,
  live?: { token: number; observe(): Promise<Observation> },
  wanted?: boolean,
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
    // Who made a pipeline wants it on until told otherwise.
    enabled: wanted ?? desired?.enabled ?? true,
    held: held !== undefined,
    ...(heartbeatAt !== undefined && { heartbeatAt }),
    ...(observation && { observation }),
  };
  return stateOf(definition, known, now);
}
