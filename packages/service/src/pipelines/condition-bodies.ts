import { z } from '@hono/zod-openapi';
import { LEAF_TYPES, LOGICAL_OPERATORS } from '@connector-frame/engine';

const Condition = z
  .looseObject({
    type_id: z.enum(LEAF_TYPES),
    config: z
      .record(z.string(), z.unknown())
      .openapi({ description: '`key`, and what it is compared with: `GET /v2/conditions` has the JSON Schemas.' }),
  })
  .openapi('Condition', {
    description: 'A test of one value of a record.',
    example: { type_id: 'greater_than', config: { key: 'severity', value: 2 } },
  });

/**
 * Conditions as they are stored. Request bodies refer to it in the document alone: the engine's own
 * check has better messages, and 422 instead of 400. Unknown fields are stored and returned.
 */
export const ConditionGroup = z
  .looseObject({
    operator: z.enum(LOGICAL_OPERATORS),
    get conditions() {
      return z
        .array(z.union([Condition, ConditionGroup]))
        .nullable()
        .optional();
    },
  })
  .openapi('ConditionGroup', {
    description: '`always`, `never`, or `and`, `or`, `nor` or `xor` over `conditions`.',
    example: { operator: 'and', conditions: [{ type_id: 'key_exists', config: { key: 'actor.email' } }] },
  });

/** Reference for the schemas of request bodies. */
export const CONDITION_GROUP_REF: { anyOf: ({ $ref: string } | { type: 'null' })[] } = {
  anyOf: [{ $ref: '#/components/schemas/ConditionGroup' }, { type: 'null' }],
};
