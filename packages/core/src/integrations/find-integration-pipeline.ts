import type { FindIntegrationPipelineOptions, ResolvedIntegration } from '../lifecycle.js';
import { callService, segment } from './call-service.js';

/**
 * Returns the pipeline of an input, or `null` if there is none. With several, returns the first
 * that the service lists.
 *
 * Most services return the pipelines with the input, in one request. Otherwise reads the list of
 * pipelines page by page, and if its rows don't contain the input, their details, eight at a time.
 *
 * @throws the error of the request function
 */
export async function findIntegrationPipeline(
  options: FindIntegrationPipelineOptions,
): Promise<ResolvedIntegration | null> {
  const { org, inputId } = options;
  const { component_of } = await callService(options, 1, 'inputs/' + segment(inputId), undefined, Object);
  let found;
  let first: string | undefined;
  for (let offset = 0; !found;) {
    const { pipelines } = component_of
      ? { pipelines: component_of }
      : await callService(options, 2, 'pipelines?limit=1000&offset=' + offset);
    // `null` is an empty list. Without the field, the response is no list: the next line throws.
    const rows = pipelines === null ? [] : pipelines;
    // Rows with this input, and rows that don't contain their input.
    const candidates = rows.filter((row) => (row.input_id || inputId) === inputId);
    found = candidates.find((row) => row.input_id && row.output_ids);
    while (!found && candidates[0]) {
      const details = candidates.splice(0, 8).map((row) => callService(options, 2, 'pipelines/' + segment(row.id)));
      found = (await Promise.all(details)).find(({ nodes }) => nodes?.some((node) => node.component_id === inputId));
    }
    // The last page, or a service that ignores the offset.
    if (component_of || !rows[0] || first === (first = rows[0].id)) break;
    // A service may return fewer rows than the limit.
    offset += rows.length;
  }
  return found
    ? {
        org,
        pipelineId: found.id,
        enabled: !!found.enabled,
        inputId,
        outputId: found.output_ids?.[0] ?? found.nodes?.find((node) => node.component_type === 'output')?.component_id,
      }
    : null;
}
