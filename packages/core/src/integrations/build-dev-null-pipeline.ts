import type { BuildDevNullPipelineOptions, BuiltPipeline, PipelineStatus } from '../lifecycle.js';
import { callService, segment } from './call-service.js';

/**
 * Creates a pipeline from an input to a new output that drops all records, so that the input runs
 * without further setup.
 *
 * If a step fails, removes what was created; if that fails too, the error is an `IntegrationError`
 * with the remaining objects. After the pipeline was created, the signal only ends the wait for
 * `Running`.
 *
 * @throws the error of the request function
 * @example
 * ```ts
 * const { pipelineId, active } = await buildDevNullPipeline({ request, org, inputId, inputName: 'Okta' });
 * ```
 */
export async function buildDevNullPipeline(options: BuildDevNullPipelineOptions): Promise<BuiltPipeline> {
  const { inputId, inputName, pollAttempts, runningTimeout = pollAttempts ? Infinity : 1e4, signal } = options;
  const type = 'dev-null';
  const labels = { name: inputName, description: '' };

  const built = await callService(
    options,
    2,
    'integrations',
    { input_id: inputId, ...labels, output: { type } },
    async () => {
      // Services differ in the name of the field for the type.
      const output = { ...labels, type, output_type: type, config: { settings: {}, secrets: {} } };
      const { id: output_id } = await callService(options, 2, 'outputs', output);
      try {
        const { id: pipeline_id, status } = await callService(options, 2, 'pipelines/', {
          ...labels,
          nodes: [nodeOf('input', inputId), nodeOf('output', output_id)],
          edges: [
            {
              ...labels,
              from_node_instance_id: 'input',
              to_node_instance_id: 'output',
              conditions: { operator: 'always' },
            },
          ],
        });
        return Object({ pipeline_id, output_id, status });
      } catch (error) {
        // An abort must not stop the removal. If the pipeline exists and only its response was lost, the
        // output is in use: 409.
        const undo = { ...options, signal: undefined };
        await callService(undo, 1, 'outputs/' + segment(output_id), undefined, Object, 'DELETE', /^404/).catch(() =>
          Object.assign(Object(error), { created: { outputId: output_id } }),
        );
        throw error;
      }
    },
  );
  const { pipeline_id: pipelineId, output_id: outputId } = built;

  const path = 'pipelines/' + segment(pipelineId) + '/status';
  const end = Date.now() + runningTimeout;
  let status = statusOf(built, 'Unknown');
  let wait = 100;
  // Unknown, Pending, Initializing, Throttled: the pipeline may still start.
  for (let left = pollAttempts ?? Infinity; left > 0 && Date.now() < end && /^[UPIT]/.test(status); left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (signal?.aborted) break;
    status = statusOf(await callService(options, 2, path).catch(() => ({})), status);
    wait = Math.min(wait * 1.5, 1e3);
  }
  return { pipelineId, outputId, status, active: status === 'Running' };
}

/** Returns the status in a response. Some services nest it: `{ status: { status: 'Running' } }`. */
function statusOf({ status }: { status?: unknown }, otherwise: PipelineStatus): PipelineStatus {
  const name = Object(status).status ?? status;
  return /^[A-Z]\w+$/.test(name) ? name : otherwise;
}

const nodeOf = (slug: 'input' | 'output', component_id: string) => ({
  slug,
  component_id,
  component_type: slug,
  enabled: true,
});
