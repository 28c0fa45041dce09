import type { BuiltPipeline, IntegrationScope } from '../lifecycle.js';
import { ask, segment } from './ask.js';

/**
 * Builds a pipeline from an input to a new output that drops every record: an input at work, with nothing to set up.
 *
 * All or nothing: what a failed build made is removed again. Where it can't be, the error is an `IntegrationError`, and names
 * what is there. The signal ends the building; once there is a pipeline, it only ends the waiting for `Running`.
 *
 * Rejects with what the request function threw.
 */
export async function buildDevNullPipeline(
  options: IntegrationScope & {
    inputId: string;
    /** Names what is built, too. */
    inputName: string;
    /**
     * Milliseconds in which the pipeline may come to run, before its status is answered as it is. `0` asks for none, and
     * answers the one that the service gave when it made the pipeline. Default: 10,000.
     */
    runningTimeout?: number | undefined;
  },
): Promise<BuiltPipeline> {
  const { inputId, inputName, runningTimeout = 1e4, signal } = options;
  const type = 'dev-null';
  const about = { name: inputName, description: '' };

  // --- 1. All at once, or step by step ------------------------------------------------------------------------------

  const built = await ask(options, 2, 'integrations', { input_id: inputId, ...about, output: { type } }, async () => {
    // Services differ in the name of the type that they read.
    const output = { ...about, type, output_type: type, config: { settings: {}, secrets: {} } };
    const { id: output_id } = await ask(options, 2, 'outputs', output);
    try {
      const { id: pipeline_id, status } = await ask(options, 2, 'pipelines/', {
        ...about,
        nodes: [nodeOf('input', inputId), nodeOf('output', output_id)],
        edges: [
          {
            ...about,
            from_node_instance_id: 'input',
            to_node_instance_id: 'output',
            conditions: { operator: 'always' },
          },
        ],
      });
      return Object({ pipeline_id, output_id, status });
    } catch (error) {
      // An abort must not stop the removal. If the answer was lost and not the pipeline, it uses the output: 409.
      const undo = { ...options, signal: undefined };
      await ask(undo, 1, 'outputs/' + segment(output_id), undefined, Object, 'DELETE', /^404/).catch(() =>
        Object.assign(Object(error), { created: { outputId: output_id } }),
      );
      throw error;
    }
  });
  const { pipeline_id: pipelineId, output_id: outputId, status: initial = 'Unknown' } = built;

  // --- 2. Until it runs ---------------------------------------------------------------------------------------------

  const path = 'pipelines/' + segment(pipelineId) + '/status';
  const end = Date.now() + runningTimeout;
  let status = initial;
  // Unknown, Pending, Initializing, Throttled: it may come to run by itself.
  for (let wait = 100; Date.now() < end && /^[UPIT]/.test(status); wait = Math.min(wait * 1.5, 1e3)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (signal?.aborted) break;
    const answer = await ask(options, 2, path).catch(() => ({ status }));
    status = answer.status ?? status;
  }
  return { pipelineId, outputId, status, active: status === 'Running' };
}

const nodeOf = (slug: 'input' | 'output', component_id: string) => ({
  slug,
  component_id,
  component_type: slug,
  enabled: true,
});
