import type { Store } from '../store/store.js';
import type { PipelineEngine } from './engine.js';

/** Tells the engine that a connector or transform has changed, for each pipeline in which it stands. After the commit. */
export async function tellEngine(
  { store, engine }: { store: Pick<Store, 'pipelines'>; engine: PipelineEngine },
  organizationId: string,
  componentId: string,
): Promise<void> {
  for (const { id } of await store.pipelines.using(organizationId, componentId)) engine.changed(id);
}
