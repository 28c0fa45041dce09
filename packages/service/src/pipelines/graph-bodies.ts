import { z } from '@hono/zod-openapi';
import { COMPONENT_TYPES, MAX_BUDGET_BYTES, MIN_BUDGET_BYTES, OVERFLOW_POLICIES } from '@connector-frame/engine';

import { CONDITION_GROUP_REF, ConditionGroup } from './condition-bodies.js';
import { ConfigOverrides, ConfigOverridesWrite } from './config-overrides.js';
import { NodeComponent } from './node-components.js';

/** Ids in the OpenAPI examples. They belong to no stored object. */
export const EXAMPLE = {
  pipeline: '5f0c1f0e-8d5b-4c51-9a3e-2f6f6f0b7a01',
  input: '5f0c1f0e-8d5b-4c51-9a3e-2f6f6f0b7a02',
  output: '5f0c1f0e-8d5b-4c51-9a3e-2f6f6f0b7a03',
} as const;

const Reference = z.string().min(1).max(100);
const Label = z.string().max(200);
const Text = z.string().max(2_000);

const overflowText =
  'What happens to new records while the backlog of the output exceeds its budget. Only on an edge to an output. `block`, the default: the input rejects them (429, `buffer_full`), for all its outputs. `drop_newest`: this output does not receive them; `dropped` in the status counts them. `spill`: like `block`, with a larger budget. If several edges lead to one output, the policy that keeps the most wins.';

const Overflow = z
  .strictObject({
    policy: z.enum(OVERFLOW_POLICIES),
    max_bytes: z.int().min(MIN_BUDGET_BYTES).max(MAX_BUDGET_BYTES).optional().openapi({
      description:
        'Budget in bytes. Can only lower the limit of the service: OUTPUT_SPILL_BYTES for `spill`, otherwise OUTPUT_BUFFER_BYTES.',
    }),
  })
  .openapi('EdgeOverflow', { description: overflowText });

const SchemaDetectionWrite = z
  .strictObject({
    enabled: z.boolean().default(false),
    disable_alerting: z
      .boolean()
      .default(false)
      .openapi({ description: 'Changes are listed, but not written to the log of the pipeline.' }),
  })
  .openapi('SchemaDetectionWrite', {
    description: 'Whether the fields and types of the records on this edge are observed, and changes of them told.',
  });

const SchemaDetection = z
  .object({ enabled: z.boolean(), disable_alerting: z.boolean() })
  .openapi('SchemaDetection', { description: 'Whether the fields of the records on this edge are observed.' });

/** A node in a request body. Unknown fields are stored and returned. */
export const NodeWrite = z
  .looseObject({
    id: Reference.optional().openapi({
      description: 'ID of an existing node to keep. Absent: matched by slug, or a new node.',
    }),
    slug: Reference.openapi({ description: 'Name of the node, unique in its pipeline.' }),
    component_id: z.string().max(100).openapi({ description: 'ID of the input, output or transform.' }),
    component_type: z.enum(COMPONENT_TYPES),
    enabled: z.boolean().default(true),
    config_overrides: ConfigOverridesWrite.optional(),
  })
  .openapi('PipelineNodeWrite');

/** An edge in a request body. Unknown fields are stored and returned. */
export const EdgeWrite = z
  .looseObject({
    id: Reference.optional().openapi({
      description: 'ID of an existing edge to keep. Absent: a new edge.',
    }),
    name: Label.default(''),
    description: Text.default(''),
    from_node_instance_id: Reference.openapi({ description: "A node's `id` or `slug`." }),
    to_node_instance_id: Reference.openapi({ description: "A node's `id` or `slug`." }),
    disabled: z.boolean().default(false),
    conditions: z.unknown().optional().openapi(CONDITION_GROUP_REF),
    overflow: Overflow.optional(),
    schema_detection_spec: SchemaDetectionWrite.optional(),
  })
  .openapi('PipelineEdgeWrite');

export type NodeWrite = z.output<typeof NodeWrite>;
export type EdgeWrite = z.output<typeof EdgeWrite>;

export const NodeBody = z
  .looseObject({
    id: z.string(),
    slug: z.string(),
    component_id: z.string(),
    component_type: z.enum(COMPONENT_TYPES),
    enabled: z.boolean(),
    config_overrides: ConfigOverrides.optional(),
    component: NodeComponent.optional(),
  })
  .openapi('PipelineNode');

export const EdgeBody = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    from_node_instance_id: z.string().openapi({ description: "A node's `id`." }),
    to_node_instance_id: z.string().openapi({ description: "A node's `id`." }),
    disabled: z.boolean(),
    conditions: ConditionGroup,
    overflow: Overflow.optional(),
    schema_detection_spec: SchemaDetection.optional(),
  })
  .openapi('PipelineEdge');

const about = { name: 'Okta to the archive', description: 'For the audit' };

const nodes = [
  { slug: 'input', component_id: EXAMPLE.input, component_type: 'input', enabled: true },
  { slug: 'output', component_id: EXAMPLE.output, component_type: 'output', enabled: true },
];
const edges = [{ from_node_instance_id: 'input', to_node_instance_id: 'output', conditions: { operator: 'always' } }];

const Name = z.string().trim().min(1).max(200);

/** Request bodies. Read-only fields (id, version, timestamps) are ignored. */
export const CreatePipeline = z
  .object({
    name: Name,
    description: Text.default(''),
    enabled: z.boolean().default(true),
    nodes: z.array(NodeWrite).default([]),
    edges: z.array(EdgeWrite).default([]),
  })
  .openapi('CreatePipeline', { example: { ...about, nodes, edges } });

export const SwitchPipeline = z
  .object({ name: Name.optional(), description: Text.optional(), enabled: z.boolean().optional() })
  .openapi('SwitchPipeline', { example: { enabled: false } });

export const SwitchEdge = z
  .object({ disabled: z.boolean().optional() })
  .openapi('SwitchPipelineEdge', { example: { disabled: true } });

export const ChangePipeline = z
  .object({
    ...SwitchPipeline.shape,
    nodes: z.array(NodeWrite).optional(),
    edges: z.array(EdgeWrite).optional(),
  })
  .openapi('ChangePipeline', { example: { enabled: false, name: 'Okta to the archive, paused' } });
