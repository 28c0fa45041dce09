import type { CleanupPolicy, DeleteIntegrationOptions } from '../lifecycle.js';
import { callService, segment } from './call-service.js';

/** Deletes pipeline, input and output. */
export const CLEANUP_FULL: CleanupPolicy = {};

/** Deletes pipeline and input, keeps the output. */
export const CLEANUP_KEEP_OUTPUT: CleanupPolicy = { output: false };

/** Deletes the pipeline alone. */
export const CLEANUP_PIPELINE_ONLY: CleanupPolicy = { input: false, output: false };

/**
 * Deletes the parts of an integration that have an ID and are not kept by `cleanup`. Parts that
 * don't exist are skipped, so a failed call can be repeated.
 *
 * An input or output that another pipeline uses is kept. A service that deletes everything in one
 * call does so silently; others respond 409.
 *
 * @throws the error of the request function
 */
export async function deleteIntegration(options: DeleteIntegrationOptions): Promise<void> {
  const { pipelineId: pipeline_id, inputId: input_id, outputId: output_id, cleanup = CLEANUP_FULL } = options;
  await callService(options, 2, 'integrations/delete', { pipeline_id, input_id, output_id, cleanup }, async () => {
    // The pipeline first, because it uses the other two.
    for (const part of ['pipeline', 'input', 'output'] as const) {
      const id = cleanup[part] !== false && options[`${part}Id`];
      if (id)
        await callService(options, part > 'p' ? 2 : 1, part + 's/' + segment(id), undefined, Object, 'DELETE', /^404/);
    }
    return Object();
  });
}
