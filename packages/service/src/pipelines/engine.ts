import type { PipelineState } from '@connector-frame/engine';
import type { Pipeline } from '../store/store.js';

/** What runs pipelines, as the API sees it. */
export interface PipelineEngine {
  /**
   * How a pipeline does, measured; also one that is about to be made. `Unknown` where it can't be told. Asked outside of
   * transactions only.
   */
  status(pipeline: Pick<Pipeline, 'id' | 'nodes' | 'edges' | 'enabled'>): Promise<PipelineState>;
  /**
   * A pipeline, or something that stands in it, was committed or removed. A hint: it may come twice, and is lost with the
   * process; what holds is in the store. Returns at once.
   */
  changed(pipelineId: string): void;
}

const NOTHING = { bytes: 0, records: 0 } as const;

/** Nothing runs here, so nothing was measured. */
export const noEngine: PipelineEngine = {
  status: ({ id, nodes }) =>
    Promise.resolve({
      pipeline_id: id,
      status: 'Unknown',
      ingress: NOTHING,
      egress: NOTHING,
      errors: 0,
      last_ingested_time: null,
      last_error: null,
      waiting: 0,
      nodes: nodes.map((node) => ({
        node_id: node.id,
        node_slug: node.slug,
        component_type: node.component_type,
        status: 'Unknown',
        ingress: NOTHING,
        egress: NOTHING,
        errors: 0,
      })),
    }),
  changed: () => undefined,
};
