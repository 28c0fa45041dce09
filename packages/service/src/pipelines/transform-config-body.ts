import { z } from '@hono/zod-openapi';
import { CONDITION_GROUP_REF } from './condition-bodies.js';

/**
 * An object whose fields the engine checks: its messages are better, and 422 instead of 400. The
 * types are for the document.
 */
const Operation = z
  .looseObject({
    operation: z
      .unknown()
      .openapi({ type: 'string', description: '`type_id` of the operation: see `GET /v1/transforms`.' }),
    arguments: z.unknown().optional().openapi({
      type: 'object',
      additionalProperties: true,
      description: 'Depend on the operation: `GET /v1/transforms/{type_id}` has their JSON Schema.',
    }),
    description: z.unknown().optional().openapi({ type: 'string' }),
    secrets: z.unknown().optional().openapi({
      type: 'object',
      additionalProperties: true,
      description: 'References to secrets, by name: `{ "id": ... }`.',
    }),
  })
  .openapi('TransformOperation', {
    required: ['operation'],
    additionalProperties: false,
    example: { operation: 'rename_key', arguments: { key: 'actor.email', new_key: 'user' } },
  });

/** What a transform does with records, in requests and responses. */
export const TransformConfig = z
  .looseObject({
    operations: z.array(Operation).openapi({ description: 'Applied to each record, in order.' }),
    conditions: z.unknown().optional().openapi(CONDITION_GROUP_REF),
    else_action: z
      .unknown()
      .optional()
      .openapi({
        type: 'string',
        enum: ['bypass', 'drop'],
        description: 'For records for which the conditions do not hold. Default: `bypass`.',
      }),
  })
  .openapi('TransformConfig', {
    description: 'Stored and returned as given.',
    additionalProperties: false,
    example: { operations: [{ operation: 'drop_key', arguments: { key: 'raw' } }] },
  });
