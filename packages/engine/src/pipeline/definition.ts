import type { OverflowPolicy } from '../bus/bus.js';
import type { LogicalCondition } from '../conditions/condition.js';

export const COMPONENT_TYPES = ['input', 'output', 'transform', 'enrichment'] as const;
export type ComponentType = (typeof COMPONENT_TYPES)[number];

/** A node of a pipeline, in the stored format. */
export interface PipelineNode {
  readonly id: string;
  /** The node's name within the pipeline. */
  readonly slug: string;
  /** The connector, transform or enrichment that this node uses. */
  readonly component_id: string;
  readonly component_type: ComponentType;
  /** `false`: no record passes this node. */
  readonly enabled: boolean;
}

/**
 * What happens to new records while the backlog of an output exceeds its budget. In the stored
 * format.
 */
export interface Overflow {
  readonly policy: OverflowPolicy;
  /** Budget in bytes. It can only lower the limit of the engine for the policy. */
  readonly max_bytes?: number | undefined;
}

/** A connection from one node to another. A record follows every edge whose conditions are true. */
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
  /** Only on an edge to an output. Absent: `block`. */
  readonly overflow?: Overflow | undefined;
}

/** The graph that records follow: from one input, through transforms, to outputs. */
export interface PipelineDefinition {
  readonly id: string;
  readonly nodes: readonly PipelineNode[];
  readonly edges: readonly PipelineEdge[];
}

/** Observed status of a pipeline. `statusOf` defines each value. */
export type PipelineStatus = 'Unknown' | 'Pending' | 'Initializing' | 'Running' | 'Disabled' | 'Erroring' | 'Throttled';
