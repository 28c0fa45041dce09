import type { ReadTables } from '../store/store.js';
import type { PipelineEngine } from './engine.js';

/**
 * Notifies the engine of a changed connector or transform, once for each pipeline that uses it,
 * also in the organizations that it is shared with.
 * Call it after the commit.
 */
export async function notifyEngine(
  { store, engine }: { store: Pick<ReadTables, 'pipelines'>; engine: PipelineEngine },
  componentId: string,
): Promise<void> {
  for (const { id } of await store.pipelines.usingAnywhere(componentId)) engine.changed(id);
}
