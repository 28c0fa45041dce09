import { z } from '@hono/zod-openapi';
import { EXAMPLE } from '../pipelines/graph-bodies.js';
import { Status } from '../pipelines/state-body.js';
import { Config } from './connector-bodies.js';
import { Id, Name, TypeId } from './schemas.js';

const Description = z.string().max(2_000);

const Output = z
  .union([
    z.strictObject({ id: Id.openapi({ description: 'ID of an existing output.' }) }).openapi('ExistingOutput'),
    z
      .strictObject({
        type: TypeId.openapi({ description: '`type_id` of the output to create.' }),
        name: Name.optional().openapi({ description: 'Default: the name of the integration.' }),
        config: Config.default({ settings: {}, secrets: {} }),
      })
      .openapi('NewOutput'),
  ])
  // No default: client generators reject a default of a union.
  .optional()
  .openapi({ description: 'An existing output, or one to create. Default: a new one of type `dev-null`.' });

/** The output of an integration whose request names none. */
export const DEV_NULL: NonNullable<z.output<typeof Output>> = {
  type: 'dev-null',
  config: { settings: {}, secrets: {} },
};

export const BuildIntegration = z
  .object({ input_id: Id, name: Name, description: Description.default(''), output: Output })
  .openapi('BuildIntegration', {
    example: { input_id: EXAMPLE.input, name: 'Okta production', output: { type: 'dev-null' } },
  });

export const BuiltIntegration = z
  .object({
    pipeline_id: z.string(),
    input_id: z.string(),
    output_id: z.string(),
    status: Status,
    enabled: z.boolean(),
  })
  .openapi('BuiltIntegration');

const flag = z.boolean().default(true);

export const RemoveIntegration = z
  .object({
    pipeline_id: Id.optional(),
    input_id: Id.optional(),
    output_id: Id.optional(),
    enabled: z.boolean().optional().openapi({
      description: 'Ignored, so that the response of the call that built the integration can be sent.',
    }),
    cleanup: z
      .strictObject({ pipeline: flag, input: flag, output: flag })
      .default({ pipeline: true, input: true, output: true })
      .openapi({ description: 'What to delete. Default of each flag: true.' }),
  })
  .openapi('RemoveIntegration', {
    example: {
      pipeline_id: EXAMPLE.pipeline,
      input_id: EXAMPLE.input,
      output_id: EXAMPLE.output,
      cleanup: { input: false, output: false },
    },
  });
