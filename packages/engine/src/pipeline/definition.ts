import type { LogicalCondition } from '../conditions/condition.js';

export const COMPONENT_TYPES = ['input', 'output', 'transform', 'enrichment'] as const;
export type ComponentType = (typeof COMPONENT_TYPES)[number];

/** One place of a pipeline, as it is stored and sent. */
export interface PipelineNode {
  readonly id: string;
  /** The node's name within the pipeline. */
  readonly slug: string;
  /** The connector, transform or enrichment that stands here. */
  readonly component_id: string;
  readonly component_type: ComponentType;
  /** `false`: nothing passes here. */
  readonly enabled: boolean;
}

/** A way from one node to another. A record takes every way whose conditions hold. */
export interface PipelineEdge {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  /** A node's `id`. */
  readonly from_node_instance_id: string;
  readonly to_node_instance_id: string;
  readonly disabled?: boolean;
  /** Absent: `always`. */
  readonly conditions?: LogicalCondition;
}

/** How records move: from one input, over transforms, to outputs. */
export interface PipelineDefinition {
  readonly id: string;
  readonly nodes: readonly PipelineNode[];
  readonly edges: readonly PipelineEdge[];
}

/** State of a pipeline, measured. `statusOf` says what each means. */
export type PipelineStatus = 'Unknown' | 'Pending' | 'Initializing' | 'Running' | 'Disabled' | 'Erroring' | 'Throttled';
