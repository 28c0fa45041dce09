import type { CleanupPolicy, IntegrationScope } from '../lifecycle.js';
import { ask, segment } from './ask.js';

/** Deletes pipeline, input and output: an absent flag deletes. */
export const CLEANUP_FULL: CleanupPolicy = {};

/** Deletes pipeline and input, keeps the output. */
export const CLEANUP_KEEP_OUTPUT: CleanupPolicy = { output: false };

/** Deletes the pipeline alone. */
export const CLEANUP_PIPELINE_ONLY: CleanupPolicy = { input: false, output: false };

/**
 * Deletes those parts of an integration that are named by an id and not kept by `cleanup`. What is gone already is done,
 * so that after a failure the same call goes on where it stopped.
 *
 * An input or output that another pipeline still uses stays: a service that deletes all in one call keeps it without a
 * word, another refuses it with 409. Rejects with what the request function threw.
 */
export async function deleteIntegration(
  options: IntegrationScope & {
    pipelineId?: string | undefined;
    inputId?: string | undefined;
    outputId?: string | undefined;
    cleanup: CleanupPolicy;
  },
): Promise<void> {
  const { pipelineId: pipeline_id, inputId: input_id, outputId: output_id, cleanup } = options;
  await ask(options, 2, 'integrations/delete', { pipeline_id, input_id, output_id, cleanup }, async () => {
    // The pipeline first: it uses the other two.
    for (const part of ['pipeline', 'input', 'output'] as const) {
      const id = cleanup[part] !== false && options[`${part}Id`];
      if (id) await ask(options, part > 'p' ? 2 : 1, part + 's/' + segment(id), undefined, Object, 'DELETE', /^404/);
    }
    return Object();
  });
}
