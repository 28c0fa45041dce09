import type { IntegrationScope, ResolvedIntegration } from '../lifecycle.js';
import { ask, segment } from './ask.js';

/**
 * The pipeline that an input feeds, or `null` when there is none. With several, the first the service names.
 *
 * The input itself tells in one request, whatever the number of pipelines. Where it does not, their list does, page by page;
 * where its rows do not, their details do, eight at a time.
 *
 * Rejects with what the request function threw: a look-up that failed is never read as "no pipeline".
 */
export async function findIntegrationPipeline(
  options: IntegrationScope & { inputId: string },
): Promise<ResolvedIntegration | null> {
  const { org, inputId } = options;
  const { component_of } = await ask(options, 1, 'inputs/' + segment(inputId), undefined, Object);
  let found;
  let first: string | undefined;
  for (let offset = 0; !found;) {
    const rows = component_of ?? (await ask(options, 2, 'pipelines?limit=1000&offset=' + offset)).pipelines;
    // Those that name the input, and those that do not tell.
    const maybe = rows.filter((row) => (row.input_id ?? inputId) === inputId);
    found = maybe.find((row) => row.input_id && row.output_ids);
    while (!found && maybe[0]) {
      const details = maybe.splice(0, 8).map((row) => ask(options, 2, 'pipelines/' + segment(row.id)));
      found = (await Promise.all(details)).find(({ nodes }) => nodes?.some((node) => node.component_id === inputId));
    }
    // The end; or a list that ignores the offset, and would have none.
    if (component_of || !rows[0] || first === (first = rows[0].id)) break;
    // A service may give fewer at a time than it was asked for.
    offset += rows.length;
  }
  return found
    ? {
        org,
        pipelineId: found.id,
        enabled: found.enabled,
        inputId,
        outputId: found.output_ids?.[0] ?? found.nodes?.find((node) => node.component_type === 'output')?.component_id,
      }
    : null;
}
