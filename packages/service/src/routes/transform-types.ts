import { z } from '@hono/zod-openapi';
import {
  describeConditions,
  describeOperation,
  LEAF_TYPES,
  LOGICAL_OPERATORS,
  OPERATION_TYPES,
} from '@connector-frame/engine';
import { notFound } from '../api-error.js';
import { route, type Route } from '../http/route.js';

const JsonSchema = z.record(z.string(), z.unknown());

const OperationInfo = z
  .object({
    type_id: z.string(),
    name: z.string(),
    description: z.string(),
    config: z
      .object({ arguments: JsonSchema, secrets: JsonSchema })
      .openapi({ description: 'JSON Schemas of the arguments, and of the references to secrets.' }),
  })
  .openapi('OperationInfo');

const ConditionInfo = z
  .object({
    type_id: z.string(),
    name: z.string(),
    description: z.string(),
    config_meta: JsonSchema.openapi({ description: 'JSON Schema of the config.' }),
  })
  .openapi('ConditionInfo');

const tag = 'Transforms';
const readTransforms = { permission: 'transform:read', session: 'deny' } as const;
const readPipelines = { permission: 'pipeline:read', session: 'deny' } as const;

/** Routes that list the types of operations and conditions, the same for every organization. */
export function transformTypeRoutes(): Route[] {
  const operations = [...OPERATION_TYPES.values()].map((type) => describeOperation(type));
  return [
    route(
      {
        method: 'get',
        path: '/v1/transforms',
        tag,
        operation: 'listOperationTypes',
        summary: 'List the types of operations',
        description: 'The operations that `config.operations` of a transform can contain.',
        access: readTransforms,
        response: { status: 200, description: 'All types, with their arguments.', schema: z.array(OperationInfo) },
      },
      () => ({ status: 200, body: operations }),
    ),
    route(
      {
        method: 'get',
        path: '/v1/transforms/{type_id}',
        tag,
        operation: 'readOperationType',
        summary: 'Read a type of operation with its arguments',
        description:
          '`config.arguments` is the JSON Schema of `arguments` of this operation, `config.secrets` that of the secrets that it can refer to.',
        access: readTransforms,
        params: z.object({ type_id: z.string().regex(/^[\w-]{1,64}$/) }),
        response: { status: 200, description: 'The type.', schema: OperationInfo },
      },
      ({ params }) => {
        const type = OPERATION_TYPES.get(params.type_id);
        if (!type) throw notFound();
        return { status: 200, body: describeOperation(type) };
      },
    ),
    route(
      {
        method: 'get',
        path: '/v2/conditions',
        tag,
        operation: 'listConditionTypes',
        summary: 'List the types of conditions',
        description:
          'The conditions that edges and transforms can contain. `config_meta` is the JSON Schema of `config` of such a condition.',
        access: readPipelines,
        response: { status: 200, description: 'All types, with their configs.', schema: z.array(ConditionInfo) },
      },
      () => ({ status: 200, body: describeConditions() }),
    ),
    ...[
      {
        path: '/v3/pipeline_edges/edge_condition_operator_types',
        operation: 'listEdgeConditionOperators',
        summary: 'List the operators that combine the conditions of an edge',
        values: LOGICAL_OPERATORS,
      },
      {
        path: '/v3/pipeline_edges/edge_condition_rules',
        operation: 'listEdgeConditionRules',
        summary: 'List the names of the conditions of an edge',
        values: LEAF_TYPES,
      },
    ].map(({ values, ...spec }) =>
      route(
        {
          method: 'get',
          ...spec,
          tag,
          access: readPipelines,
          description: 'For clients that let a person build a condition. `GET /v2/conditions` describes each of them.',
          // The clients of the public API expect a string here.
          response: {
            status: 200,
            description: 'A JSON array, as a string.',
            schema: z.string(),
            example: JSON.stringify(values.slice(0, 3)),
          },
        },
        // Encoded twice: strings are sent as they are.
        () => ({ status: 200, body: JSON.stringify(JSON.stringify(values)) }),
      ),
    ),
  ];
}
